"""Runs a command on a terminal of its own: pty.py STEPS CMD...

STEPS is a JSON list of [text to wait for, keys to send]. Prints what the terminal showed; ends with the command's status
(128 + n for a signal). Gives up after 30 s with status 99.
"""
import json, os, pty, select, sys, time

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

shown = b""
seen = 0
deadline = time.monotonic() + 30
while True:
    if time.monotonic() > deadline:
        sys.stdout.buffer.write(shown)
        sys.exit(99)
    ready, _, _ = select.select([terminal], [], [], 0.1)
    if ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        if not data:
            break
        shown += data
    if steps and steps[0][0].encode() in shown[seen:]:
        seen = shown.index(steps[0][0].encode(), seen) + len(steps[0][0].encode())
        time.sleep(0.2)
        os.write(terminal, steps[0][1].encode())
        steps.pop(0)

_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
