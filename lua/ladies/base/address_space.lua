--- Fails, with a message of one line, where OpenBLAS would find no room for its buffers when the
-- core is loaded into a stock Lua interpreter. OpenBLAS starts a thread for every processor but
-- one, and where a limit on address space (ulimit -v) leaves no room for their buffers it asks for
-- them again for ever. (The program `ladies` starts itself without these threads; and where the
-- core is loaded already, as it is in a worker, OpenBLAS is, too.)

local MIB = 1 << 20                               -- modules that need the core cannot be asked yet
local LIBRARIES, THREAD = 64 * MIB, 136 * MIB     -- what loading takes, and each thread

local function read(path)
  local file = io.open(path)
  local text = file and file:read "a" or ""
  if file then file:close() end
  return text
end

-- Returns how many bits are set in a mask, which is given as hexadecimal digits with commas in it.
local function bits(mask)
  local count = 0
  for digit in mask:gmatch "%x" do
    local value = tonumber(digit, 16)
    for bit = 0, 3 do count = count + (value >> bit & 1) end
  end
  return count
end

--- Fails, with a message of one line, where there is no room for the buffers of OpenBLAS's threads;
-- `limits` and `status` are the texts of the files of these names in /proc/self, `wanted` the value
-- of OPENBLAS_NUM_THREADS.
local function check(limits, status, wanted)
  local limit = tonumber(limits:match "\nMax address space%s+(%d+)")
  if not limit then return end
  local used = (tonumber(status:match "\nVmSize:%s+(%d+)") or 0) * 1024
  local threads = bits(status:match "\nCpus_allowed:%s+(%S+)" or "1")
  threads = math.min(math.tointeger(tonumber(wanted)) or threads, threads)
  local need = LIBRARIES + (threads - 1) * THREAD
  if used + need > limit then
    error(("ladies: OpenBLAS wants %d MiB of address space for %d threads, and ulimit -v leaves "
      .. "%d; set OPENBLAS_NUM_THREADS=1"):format(need // MIB, threads, (limit - used) // MIB), 0)
  end
end

if not (package.loaded.ladies_host or package.loaded.ladies_core) then
  check(read "/proc/self/limits", read "/proc/self/status", os.getenv "OPENBLAS_NUM_THREADS")
end

return check
