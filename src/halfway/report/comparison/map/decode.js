// Columns of integers from base64, gzip and byte planes: the inverse of packing.py.
const bytesOf = async (base64) => {
  const squeezed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([squeezed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

const decoded = async (about, base64) => {
  const bytes = await bytesOf(base64);
  const found = {};
  let place = 0;
  for (const { name, rows, width, low, summed } of about.columns) {
    const column = new Int32Array(rows);
    for (let plane = 0; plane < width; plane++) {
      const shift = 8 * plane;
      for (let k = 0; k < rows; k++) column[k] |= bytes[place++] << shift;
    }
    let sum = 0;
    for (let k = 0; k < rows; k++) {
      column[k] += low;
      if (summed) column[k] = sum += column[k];
    }
    found[name] = column;
  }
  return found;
};

const inSeconds = (ticks, tick) => Float64Array.from(ticks, (count) => count * tick);

// The number of ascending times at or before t.
const upTo = (times, t) => {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
};
