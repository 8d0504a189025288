--- A world for tests of fetching: a registry of one small data set, its archive, and programs
-- called pip and curl that bring it, or fail to, as told. No network is needed.

local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local malformed = require "tools.malformed"
local shell = require "tools.shell"
local toy_data = require "reference.toy_data"

local fake = {}

-- The programs do what FAKE says, count their runs in $FAKE_WORLD/runs and write their process id
-- to $FAKE_WORLD/started before they would wait for ever.
local COMMON = [[
#!/bin/sh
echo run >> "$FAKE_WORLD/runs"
echo "$@" >> "$FAKE_WORLD/words"
while [ $# -gt 0 ]; do
  case $1 in --output | --dest) out=$2 ;; esac
  shift
done
archive=$FAKE_WORLD/toy.zip
hang() {
  head -c 300 "$archive" > "$1"
  echo $$ > "$FAKE_WORLD/started"
  exec sleep 100
}
]]

local CURL = COMMON .. [[
case $FAKE in
  cut) head -c 1200000 "$archive" > "$out"; echo 'curl: (18) transfer closed' >&2; exit 18 ;;
  hang) hang "$out" ;;
  none) echo 'curl: (6) Could not resolve host: nowhere' >&2; exit 6 ;;
  http)
    if [ -s "$out" ]; then
      echo "curl: (22) The requested URL returned error: $FAKE_STATUS" >&2; exit 22
    fi
    cp "$archive" "$out" ;;
  cannot)
    if [ -s "$out" ]; then echo 'curl: (33) cannot resume' >&2; exit 33; fi
    cp "$archive" "$out" ;;
  slow) sleep 0.5; cp "$archive" "$out" ;;
  *) size=$(cat "$out" 2>/dev/null | wc -c)
    tail -c +$((size + 1)) "$archive" >> "$out" 2>/dev/null || {
      echo 'curl: (23) Failure writing output to destination' >&2; exit 23; } ;;
esac
]]

local PIP = COMMON .. [[
mkdir -p "$out"
case $FAKE in
  hang) hang "$TMPDIR/part" ;;
  none) echo 'WARNING: Retrying' >&2; echo 'ERROR: No matching distribution found' >&2; exit 1 ;;
  *) cp "$archive" "$out/toy-1.0-py3-none-any.whl" ;;
esac
]]

local read, write = files.read, files.write

local REGISTRY = [[
# A comment.
archive box
  zip      https://example.org/toy.zip
  size     %d
  sha256   %s

archive wheel
  wheel    toy 1.0 any 3.8

dataset toy
  about    a toy
  from     box
  base     inner/toy
  read     toy.npz
  licence  none
  cite     nobody
  expect   nodes 180, classes 3
  file     %s %d toy.npz

dataset toy-wheel
  about    a wheel
  from     wheel
  base     inner/toy
  read     toy.npz
  instead  toy
  file     - - toy.npz
]]

--- A new world, removed at the end of the scope of its variable: `path`, `cache` (a folder that is
-- not there yet), `archive` and `npz` (paths), `sha256` of the latter.
function fake.world()
  local folder = shell.folder()
  local world = {path = folder.path, cache = folder.path .. "/cache",
    archive = folder.path .. "/toy.zip", npz = folder.path .. "/toy.npz"}
  os.execute("mkdir " .. shell.quote(world.path .. "/bin"))
  for name, text in pairs{curl = CURL, pip = PIP} do
    write(world.path .. "/bin/" .. name, text)
    os.execute("chmod +x " .. shell.quote(world.path .. "/bin/" .. name))
  end
  ladies.data.save(toy_data.new(true), world.npz)
  world.sha256 = core.zip.sha256(world.npz)
  write(world.archive, malformed.zip{{name = "inner/", data = ""},
    {name = "inner/toy/README", data = ("what to read\n"):rep(50)},
    {name = "inner/toy/toy.npz", data = read(world.npz)}})
  world.registry = REGISTRY:format(#read(world.archive), core.zip.sha256(world.archive),
    world.sha256, #read(world.npz))
  write(world.path .. "/registry.txt", world.registry)
  local own = getmetatable(folder).__close
  return setmetatable(world, {__index = fake, __close = function() own(folder) end})
end

--- Changes the text of the registry.
function fake:edit(from, to)
  local at, stop = self.registry:find(from, 1, true)
  self.registry = self.registry:sub(1, at - 1) .. to .. self.registry:sub(stop + 1)
  write(self.path .. "/registry.txt", self.registry)
end

--- The environment of this world, with more assignments.
function fake:env(more)
  local path = ("%s/bin:%s"):format(self.path, os.getenv "PATH")
  local env = {"LADIES_OFFLINE=", "LADIES_DATA=", "LADIES_CACHE=" .. self.cache, "PATH=" .. path,
    "FAKE_WORLD=" .. self.path, "LADIES_REGISTRY=" .. self.path .. "/registry.txt"}
  if not os.getenv "LADIES_DATA" then env[2] = "LADIES_DATA=/nonexistent" end
  return table.move(more or {}, 1, #(more or {}), #env + 1, env)
end

--- Runs `ladies` with these words; output, errors, status.
function fake:run(words, more)
  return shell.run_ladies(words, {env = self:env(more)})
end

--- Lists the cache, hidden files included, but for the file that says what folder it is.
function fake:cached()
  return (shell.run{"sh", "-c", "ls -A -I ladies.json " .. shell.quote(self.cache)
    .. " 2>/dev/null"})
end

--- Counts how often curl or pip ran.
function fake:runs()
  local _, count = (core.exists(self.path .. "/runs") and read(self.path .. "/runs") or "")
    :gsub("\n", "")
  return count
end

fake.read, fake.write = read, write

return fake
