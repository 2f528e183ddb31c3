"""On which kind of file system a folder lies."""

from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
# Over a network neither SQLite's WAL (shared memory) nor fcntl locks are reliable: two machines would both hold them.
NETWORK_KINDS = {
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
    "smb", "smb2", "smb3", "smbfs", "virtiofs",
}  # fmt: skip
NETWORK_FUSE = {"ceph", "cephfs", "davfs", "glusterfs", "juicefs", "rclone", "s3fs", "smbnetfs", "sshfs"}


def network_kind(folder: Path, mounts: str | None = None) -> str | None:
    """The kind ("nfs4", "fuse.sshfs") of the network file system that `folder` lies on, or None for a local one.

    `mounts` is the text of mountinfo, read from the system when not given; without one (not Linux) the answer is None.
    """
    if mounts is None:
        try:
            mounts = MOUNTS.read_text()
        except FileNotFoundError:
            return None
    kind = _kind_of(folder.resolve(), mounts)
    is_network = kind in NETWORK_KINDS or (kind.startswith("fuse.") and kind.removeprefix("fuse.") in NETWORK_FUSE)
    return kind if is_network else None


def _kind_of(folder: Path, mounts: str) -> str:
    """The file system type of the last mount on the longest matching mount point."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        point = Path(_unescaped(before.split()[4]))
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _unescaped(field: str) -> str:
    # The kernel writes blank, tab, line feed and backslash in a path as \040, \011, \012 and \134.
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, sign)
    return field
