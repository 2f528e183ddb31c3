// Bytes in binary units, short enough for an axis: "812 B", "64 kB", "1.5 GB".
const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function size(bytes) {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** step;
  return `${amount >= 100 || Number.isInteger(amount) ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
}
