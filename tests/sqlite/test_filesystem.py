from pathlib import Path

import pytest

from jobs.sqlite.filesystem import network_kind

MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /srv rw - xfs /dev/sdb rw
31 30 0:41 / /srv/share rw,relatime - nfs4 server:/share rw
32 22 0:42 / /mnt/my\040disk rw - cifs //server/disk rw
33 22 0:43 / /home/me/remote rw - fuse.sshfs me@server: rw
34 22 0:44 / /home/me/local rw - fuse.ntfs-3g /dev/sdc rw
35 31 0:45 / /srv/share/fast rw - ext4 /dev/sdd rw
""".strip()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/share/rota", "nfs4"),
        ("/mnt/my disk/rota", "cifs"),
        ("/home/me/remote", "fuse.sshfs"),
        ("/home/me/local/rota", None),
        ("/srv/share/fast/rota", None),
        ("/srv/shared", None),
        ("/var/lib/rota", None),
    ],
)
def test_kind_of_the_deepest_mount_decides(folder, kind):
    assert network_kind(Path(folder), MOUNTS) == kind


def test_last_mount_on_a_point_hides_the_others():
    over = "1 0 8:1 / /data rw - ext4 /dev/sda rw\n2 0 0:4 / /data rw - smb3 //server/data rw"
    assert network_kind(Path("/data/rota"), over) == "smb3"


def test_test_folder_is_local(tmp_path):
    assert network_kind(tmp_path) is None
