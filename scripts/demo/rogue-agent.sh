#!/bin/sh
# What an agent with a shell can do to a project in a second. Runs in the project's top folder.
set -eu
find packages/zod -name '*.ts' | head -40 | xargs sed -i.bak 's/string/strnig/g'   # "fixes" a type
find packages/zod -name '*.bak' -exec rm {} +
rm -rf packages/yaml                                                               # "cleans up"
mv packages/diff packages/text-diff                                                # "renames"
chmod 600 bin/*                                                                    # loses the executable bits
head -c 65536 /dev/urandom > assets/engine.bin                                     # rewrites a binary
mkdir -p notes/plans && echo 'TODO: everything' > notes/plans/next.md              # leaves new files about
rm LICENSE && mkdir LICENSE && echo 'MIT, I think' > LICENSE/mit.txt               # a file becomes a directory
mv README.md readme.md                                                             # a rename by letter case only
ln -sfn /etc/passwd latest                                                          # turns a link elsewhere
rm -r spare                                                                        # drops an empty directory
