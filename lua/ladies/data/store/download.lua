--- Downloads archives: wheels with pip, everything else with curl. Both programs are run without a
-- shell, in a folder of this program, and end with it.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local progress = require "ladies.base.progress"
local registry = require "ladies.data.store.registry"
local tables = require "ladies.base.tables"

local download = {}

local MB = 1000000
local TICK = 0.2                                  -- seconds between two looks at what has arrived

-- The exit statuses of curl which mean that an interrupted download cannot be continued: a server
-- that cannot do it, and a wrong position.
local CANNOT_RESUME = {[33] = true, [36] = true}

-- That of any HTTP error, of which 416 means it, too, and others may pass, such as 503.
local HTTP_ERROR = 22

-- The commands that may start pip. Without -I, Python would load a pip.py in the current folder.
local PIPS = {{"pip"}, {"pip3"}, {"python3", "-I", "-m", "pip"}}

-- Returns the last line of a program's log that mentions an error, or else the last line, as plain
-- text.
local function last_words(log)
  local last, failure
  for line in (core.exists(log) == "file" and core.file.read(log) or ""):gmatch "[^\r\n]+" do
    last = line:find "%S" and line or last
    if line:lower():find "error" and not line:find ":%s*$" then failure = line end
  end
  local words = (failure or last or "without a word"):gsub("%c%[?[%d;]*%a?", "")
  return #words > 200 and words:sub(1, 200) .. "..." or words
end

-- Runs a program to its end, showing how many bytes it has written to the file or folder
-- opts.place; returns its exit status.
local function run(argv, opts)
  local display = progress.new{total = opts.size and math.max(1, opts.size // MB),
    quiet = opts.quiet, unit = opts.title .. ": MB"}
  local process <close> = core.process.start(argv,
    {log = opts.log, env = {TMPDIR = opts.folder}})
  local status
  repeat
    status = process:wait(TICK)
    if not status then display:update(core.folder.bytes(opts.place) // MB, core.clock()) end
  until status
  display:clear()
  return status
end

local function find_pip()
  for _, words in ipairs(PIPS) do
    if core.process.exists(words[1]) then return tables.append({}, words) end
  end
  errors.fail("the program pip is missing; it comes with Python")
end

-- Downloads a wheel of the package index with pip. The wheel is neither installed nor run.
local function by_pip(archive, job)
  local argv = find_pip()
  local name, version, platform, python = archive.wheel:match "^(%S+) (%S+) (%S+) (%S+)$"
  local place = job.folder .. "/wheel"
  for _, word in ipairs{"download", "--no-deps", "--only-binary=:all:", "--platform", platform,
    "--python-version", python, "--no-cache-dir", "--disable-pip-version-check", "--no-input",
    "--progress-bar", "off", "--retries", "2", "--timeout", "20", "--dest", place, "--",
    name .. "==" .. version} do
    argv[#argv + 1] = word
  end
  local log = job.folder .. "/log"
  local status = run(argv, {place = job.folder, folder = job.folder, log = log, size = archive.size,
    title = job.title, quiet = job.quiet})
  local files = core.files(place)
  if status ~= 0 or #files ~= 1 then
    errors.fail(("%s did not come (%s)"):format(registry.origin(archive), last_words(log)))
  end
  return place .. "/" .. files[1]
end

-- Downloads one file with curl, which continues an earlier attempt that was stopped.
local function curl(url, place, job, size)
  if not core.process.exists "curl" then errors.fail("the program curl is missing") end
  local log = job.folder .. "/log"
  local argv = {"curl", "--fail", "--location", "--silent", "--show-error", "--proto", "=https",
    "--proto-redir", "=https", "--retry", "2", "--connect-timeout", "20", "--speed-limit", "1000",
    "--speed-time", "60", "--continue-at", "-", "--globoff", "--output", place, "--url", url}
  local resumed = core.exists(place)
  local status = run(argv, {place = place, folder = job.folder, log = log, size = size,
    title = job.title, quiet = job.quiet})
  local refused = CANNOT_RESUME[status]
    or status == HTTP_ERROR and last_words(log):find "error: 416"
  if resumed and refused then
    core.folder.remove(place)
    return curl(url, place, job, size)
  elseif status ~= 0 then
    local arrived = core.folder.bytes(place)
    if arrived == 0 then core.folder.remove(place) end
    errors.fail(("%s did not come (%s)%s"):format(url, last_words(log), arrived > 0
      and ("; the %d MB that arrived are kept, and the next attempt goes on there"):format(
        arrived // MB) or ""))
  end
end

-- Raises an error, and removes the file, unless it has the known size and SHA-256.
local function check(path, archive)
  local size = core.folder.bytes(path)
  local wrong
  if archive.size and size ~= archive.size then
    wrong = ("has %d bytes, %d expected"):format(size, archive.size)
  elseif archive.sha256 then
    local sha256 = core.zip.sha256(path)
    wrong = sha256 ~= archive.sha256
      and ("has the SHA-256 %s, %s expected"):format(sha256, archive.sha256)
  end
  if wrong then
    core.folder.remove(path)
    errors.fail(("what came from %s is not what was published: it %s"):format(
      registry.origin(archive), wrong))
  end
end

--- Downloads the archive of a data set of the registry and returns its path, a zip file or a folder
-- of files. A job says where and how: folder (a workplace), kept (the path of a file that stays for
-- the next attempt when it is cut off), title, quiet.
function download.get(entry, job)
  local archive = entry.archive
  local path
  if archive.wheel then
    path = by_pip(archive, job)
  elseif archive.zip then
    curl(archive.zip, job.kept, job, archive.size)
    path = job.folder .. "/archive.zip"
    assert(os.rename(job.kept, path))
  else
    path = job.folder .. "/download"
    core.folder.make(path)
    for _, file in ipairs(entry.files) do
      curl(archive.files .. file.path, path .. "/" .. file.path, job, file.size)
    end
    return path
  end
  check(path, archive)
  return path
end

return download
