"""How full the disks are."""

import shutil
from pathlib import Path

NOT_DISKS = {"proc", "sysfs", "devtmpfs", "tmpfs", "cgroup", "cgroup2", "devpts", "mqueue", "squashfs"}
GIGABYTE = 1024**3

seen = set()
print(f"{'mounted on':<30}{'size':>10}{'free':>10}{'used':>8}")
for line in Path("/proc/mounts").read_text().splitlines():
    device, folder, kind = line.split()[:3]
    if kind in NOT_DISKS or device in seen or not Path(folder).is_dir():
        continue
    seen.add(device)
    disk = shutil.disk_usage(folder)
    if disk.total:
        share = disk.used / disk.total
        print(f"{folder:<30}{disk.total / GIGABYTE:>8.1f} G{disk.free / GIGABYTE:>8.1f} G{share:>8.0%}")
