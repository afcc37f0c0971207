"""A save that a kill interrupts."""

import os
import signal


def save_and_be_killed(save, fatal_step):
    """Call `save(on_step)` in a child process that ends itself with SIGKILL at step number `fatal_step`."""
    pid = os.fork()
    if pid == 0:
        countdown = iter(range(fatal_step, -1, -1))
        try:
            save(lambda _: next(countdown) or os.kill(os.getpid(), signal.SIGKILL))
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
