/* localStorage, or the page's memory if the browser has none or it is full: nothing is lost. */

const memory = new Map();

const storage = () => {
  try { return window.localStorage; } catch { return null; } // private modes throw on access
};

export const read = (key) => {
  if (memory.has(key)) return memory.get(key);
  try { return storage()?.getItem(key) ?? null; } catch { return null; }
};

/* True if the value survives the page. */
export const write = (key, value) => {
  try {
    storage().setItem(key, value);
    memory.delete(key);
    return true;
  } catch {
    memory.set(key, value);
    return false;
  }
};

export const remove = (key) => {
  memory.delete(key);
  try { storage()?.removeItem(key); } catch { /* then it was never there */ }
};

export const keysUnder = (prefix) => {
  const found = new Set(memory.keys());
  try { for (const key of Object.keys(storage() ?? {})) found.add(key); } catch { /* memory is all there is */ }
  return [...found].filter((key) => key.startsWith(prefix)).sort();
};

export const readJson = (key, otherwise) => {
  try { return JSON.parse(read(key)) ?? otherwise; } catch { return otherwise; }
};

export const canKeep = () => {
  const works = write("dissensus:probe", "1");
  remove("dissensus:probe");
  return works;
};

/* How many of these would be lost with the page. */
export const inMemory = (prefix) => [...memory.keys()].filter((key) => key.startsWith(prefix)).length;
