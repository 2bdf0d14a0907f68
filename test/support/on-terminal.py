"""Runs a command on a terminal of its own: on-terminal.py ENVIRONMENT STEPS CMD...

ENVIRONMENT is a JSON object, STEPS a JSON list of [text to wait for, keys to send] or
[text to wait for, keys to send, shell command to run before that]. Prints what the terminal showed; ends with the command's status
(128 + n for a signal). Gives up after 30 s with status 99.
"""
import json, os, pty, select, subprocess, sys, time

environment, steps = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    os.execvpe(sys.argv[3], sys.argv[3:], environment)

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
        if len(steps[0]) > 2:
            subprocess.run(steps[0][2], shell=True, check=True)
        os.write(terminal, steps[0][1].encode())
        steps.pop(0)

_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
