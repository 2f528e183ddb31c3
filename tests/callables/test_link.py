"""A host's sense of time."""

import os
import socket

from jobs.callables.link import Link


def test_time_limit_may_be_longer_than_the_kernel_waits():
    """A callable with a limit of a month ended its host, and so all that ran there."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link = Link(os.dup(ours.fileno()))
    link.later(365 * 86_400.0, list)
    ours.close()
    theirs.close()
    link.serve(list, list, list)
    link._socket.close()
    os.close(link._wake)
