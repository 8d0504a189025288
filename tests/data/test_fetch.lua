--- Fetching with programs that stand in for pip and curl: what comes, what does not, what comes
-- wrong, and what is left behind.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local json = require "ladies.base.json"
local fake = require "tools.fake_sources"
local shell = require "tools.shell"
local toy_data = require "reference.toy_data"

local tests = {}

local WHOLE = "toy.json\ntoy.npz\n"

-- Runs a command that must fail with one line, which holds all the texts.
local function check_failure(world, words, env, ...)
  shell.refuses({"ladies ", ...}, world:run(words, env))
end

local function check_toy(data)
  local toy = toy_data.new(true)
  lu.assertEquals({data.graph.adjacency:hash(), data.features:hash(), data.labels, data.test},
    {toy.graph.adjacency:hash(), toy.features:hash(), toy.labels, toy.test})
end

-- ---------------------------------------------------------------- what comes

function tests.test_curl()
  local world <close> = fake.world()
  local out = shell.silent(world:run{"fetch", "toy"})
  lu.assertStrContains(out, "nodes      180")
  lu.assertStrContains(out, "https://example.org/toy.zip")
  lu.assertStrContains(out, "licence    none")
  lu.assertEquals(world:cached(), WHOLE)
  check_toy(ladies.data.load(world.cache .. "/toy.npz"))
  local method = ("<I2"):unpack(fake.read(world.cache .. "/toy.npz"), 9)
  lu.assertEquals(method, 0)                               -- stored, not deflated
  local record = json.decode(fake.read(world.cache .. "/toy.json"))
  lu.assertEquals({record.name, record.origin, record.version},
    {"toy", "https://example.org/toy.zip", core.version})
  lu.assertEquals({record.sha256, record.archive_sha256},
    {core.zip.sha256(world.cache .. "/toy.npz"), core.zip.sha256(world.archive)})
  lu.assertStrMatches(record.date, "%d%d%d%d%-%d%d%-%d%dT.*Z")
  -- The words go to the program as they are, and the second time nothing is fetched.
  lu.assertStrContains(fake.read(world.path .. "/words"), "--proto =https ")
  lu.assertEquals(select(3, world:run{"fetch", "toy"}), 0)
  lu.assertEquals(world:runs(), 1)
  lu.assertEquals(select(3, world:run{"fetch", "toy", "--again"}), 0)
  lu.assertEquals(world:runs(), 2)
end

function tests.test_pip()
  local world <close> = fake.world()
  local out = shell.silent(world:run{"fetch", "toy-wheel"})
  lu.assertStrContains(out, "from the wheel of toy 1.0")
  lu.assertEquals(world:cached(), "toy-wheel.json\ntoy-wheel.npz\n")
  local words = fake.read(world.path .. "/words")
  for _, word in ipairs{"--no-deps", "--only-binary=:all:", "toy==1.0"} do
    lu.assertStrContains(words, word)
  end
end

function tests.test_list_and_names()
  local world <close> = fake.world()
  local out, _, status = world:run{"fetch"}
  lu.assertEquals({out, status}, {"  toy        a toy\n  toy-wheel  a wheel\n", 0})
  lu.assertEquals(select(3, world:run{"fetch", "toy"}), 0)
  lu.assertStrContains(world:run{"fetch"}, "a toy (here)")
  check_failure(world, {"fetch", "--again"}, {}, "--again goes with NAME")
  check_failure(world, {"fetch", "tox"}, {}, 'no data set "tox"', 'did you mean "toy"?')
  lu.assertStrContains(select(2, world:run{"info"}), "toy")
end

function tests.test_on_first_use()
  local world <close> = fake.world()
  check_failure(world, {"info", "toy"}, {"LADIES_OFFLINE=1"},
    'no data set "toy" here, and LADIES_OFFLINE forbids to fetch it')
  lu.assertEquals(world:runs(), 0)
  local out = shell.silent(world:run{"info", "toy"})
  lu.assertStrContains(out, "nodes      180")
  lu.assertEquals(select(3, world:run({"info", "toy"}, {"LADIES_OFFLINE=1"})), 0)
  lu.assertEquals(world:runs(), 1)
  check_failure(world, {"info", "nothing"}, {}, 'no data set "nothing"')
end

function tests.test_two_at_once()
  local world <close> = fake.world()
  local command = ("%s fetch toy --quiet"):format(shell.quote(shell.ladies))
  local both = ("%s >/dev/null & %s >/dev/null; a=$?; wait $!; exit $((a + $?))"):format(command,
    command)
  shell.silent(shell.run({"sh", "-c", both}, {env = world:env{"FAKE=slow"}}))
  lu.assertEquals({world:runs(), world:cached()}, {1, WHOLE})
end

-- ---------------------------------------------------------------- what does not come

function tests.test_no_network()
  local world <close> = fake.world()
  check_failure(world, {"fetch", "toy"}, {"FAKE=none"},
    "toy: https://example.org/toy.zip did not come", "Could not resolve host: nowhere",
    "it needs a network", "ladies import PATH --name toy")
  check_failure(world, {"fetch", "toy-wheel"}, {"FAKE=none"}, "the wheel of toy 1.0 did not come",
    "No matching distribution", "or another form: ladies fetch toy\n")
  check_failure(world, {"train", "--dataset", "toy"}, {"FAKE=none"}, "toy.zip did not come",
    "wordnet comes with the program: --dataset wordnet")
  lu.assertEquals(world:cached(), "")
end

function tests.test_programs_that_are_missing()
  local world <close> = fake.world()
  check_failure(world, {"fetch", "toy"}, {"PATH=/nonexistent"}, "the program curl is missing")
  check_failure(world, {"fetch", "toy-wheel"}, {"PATH=/nonexistent"}, "the program pip is missing")
  lu.assertEquals(world:cached(), "")
end

function tests.test_cut_off_and_resumed()
  local world <close> = fake.world()
  local long = "# " .. ("x"):rep(1100000)
  local archive = fake.read(world.archive)
  fake.write(world.archive, long .. archive)      -- a zip archive may follow anything
  world:edit("  size     " .. #archive, "  size     " .. #long + #archive)
  world:edit(("sha256   %s"):format(world.registry:match "sha256   (%x+)"),
    "sha256   " .. core.zip.sha256(world.archive))
  check_failure(world, {"fetch", "toy", "--quiet"}, {"FAKE=cut"}, "transfer closed",
    "the 1 MB that arrived are kept")
  lu.assertEquals(world:cached(), ".toy.part\n")
  -- The archive does not begin where its directory says: that it came whole is what counts here.
  check_failure(world, {"fetch", "toy", "--quiet"}, {}, "zip: ")
end

function tests.test_resuming_and_starting_anew()
  for _, how in ipairs{"FAKE=", "FAKE=cannot"} do
    local world <close> = fake.world()
    core.folder.make(world.cache)
    fake.write(world.cache .. "/.toy.part", fake.read(world.archive):sub(1, 100))
    local _, err, status = world:run({"fetch", "toy"}, {how})
    lu.assertEquals({status, err, world:cached()}, {0, "", WHOLE})
  end
end

--- Of HTTP errors that of a wrong range alone throws away what has arrived; others may pass.
function tests.test_http_errors_of_a_resumed_download()
  for code, keeps in pairs{[416] = false, [503] = true} do
    local world <close> = fake.world()
    core.folder.make(world.cache)
    fake.write(world.cache .. "/.toy.part", fake.read(world.archive):sub(1, 100))
    local env = {"FAKE=http", "FAKE_STATUS=" .. code}
    if keeps then
      check_failure(world, {"fetch", "toy"}, env, "error: 503", "that arrived are kept")
      lu.assertEquals({world:cached(), #fake.read(world.cache .. "/.toy.part")},
        {".toy.part\n", 100})
    else
      shell.silent(world:run({"fetch", "toy"}, env))
      lu.assertEquals(world:cached(), WHOLE)
    end
  end
end

local function interrupted(world, name, signal)
  local command = ([[
    set -m
    %s fetch %s & main=$!
    while [ ! -s "$FAKE_WORLD/started" ]; do sleep 0.01; done
    kill -%s $main; wait $main; status=$?
    child=$(cat "$FAKE_WORLD/started")
    for i in $(seq 300); do
      if ! grep -qs '^State:.[^Z]' /proc/$child/status; then exit $status; fi
      sleep 0.1
    done
    echo "the child lives on"]]):format(shell.quote(shell.ladies), name, signal)
  local out, _, status = shell.run({"bash", "-c", command}, {env = world:env{"FAKE=hang"}})
  lu.assertEquals(out, "")
  core.folder.remove(world.path .. "/started")
  return status
end

function tests.test_ctrl_c()
  for name, left in pairs{toy = ".toy.part\n", ["toy-wheel"] = ""} do
    local world <close> = fake.world()
    lu.assertEquals(interrupted(world, name, "INT"), 130)
    lu.assertEquals(world:cached(), left)
    lu.assertEquals(select(3, world:run{"fetch", name}), 0)
    lu.assertEquals(world:cached(), ("%s.json\n%s.npz\n"):format(name, name))
  end
end

function tests.test_killed()
  for _, name in ipairs{"toy", "toy-wheel"} do
    local world <close> = fake.world()
    lu.assertEquals(interrupted(world, name, "KILL"), 137)
    lu.assertStrContains(world:cached(), (".%s.work"):format(name))
    check_failure(world, {"info", name}, {"LADIES_OFFLINE=1"}, "no data set")
    lu.assertEquals(select(3, world:run{"fetch", name}), 0)
    lu.assertEquals(world:cached(), ("%s.json\n%s.npz\n"):format(name, name))
    -- One that was killed while it removed its folder, when the data set was there already.
    local work = ("%s/.%s.work"):format(world.cache, name)
    core.folder.make(work)
    fake.write(work .. "/.ladies.lock", "")
    lu.assertEquals(select(3, world:run{"fetch", name}), 0)
    lu.assertEquals(world:cached(), ("%s.json\n%s.npz\n"):format(name, name))
  end
end

--- A full disk (here a limit on the size of files) is one line of error at every stage of the work.
function tests.test_full_disk()
  local world <close> = fake.world()
  local failures, status = {}, nil
  for power = 0, 9 do
    local blocks = 1 << power                     -- of 512 bytes
    -- The output goes through pipes, which have no limit.
    local command = ("(trap '' XFSZ; ulimit -f %d; %s fetch toy; echo $? >&3) 3>&1 2>&1 | cat")
      :format(blocks, shell.quote(shell.ladies))
    local text = shell.run({"sh", "-c", command}, {env = world:env()})
    status = tonumber(text:match "(%d+)\n$")
    if status == 0 then break end
    local err = text:match "^(ladies fetch: [^\n]+\n)1\n$"
    lu.assertNotNil(err, text)
    failures[err:match "File too large" or err:match "Failure writing" or err] = true
    local left = world:cached()
    lu.assertTrue(left == "" or left == ".toy.part\n", left)
    core.folder.remove(world.cache)
  end
  lu.assertEquals(status, 0)
  lu.assertEquals(world:cached(), WHOLE)
  lu.assertNotNil(next(failures))
end

-- ---------------------------------------------------------------- what comes wrong

function tests.test_what_was_not_published()
  local world <close> = fake.world()
  local sums = {}
  for sum in world.registry:gmatch "%x+" do
    if #sum == 64 then sums[#sums + 1] = sum end
  end
  world:edit(sums[2], ("0"):rep(64))
  check_failure(world, {"fetch", "toy"}, {}, "toy.npz is not the published one: its SHA-256 is "
    .. world.sha256 .. ", 0000")
  world:edit(sums[1], ("1"):rep(64))
  check_failure(world, {"fetch", "toy"}, {},
    "is not what was published: it has the SHA-256 " .. sums[1])
  world:edit("size     ", "size     1")
  check_failure(world, {"fetch", "toy"}, {}, "bytes, 1", "expected")
  lu.assertEquals(world:cached(), "")
end

function tests.test_what_is_not_expected()
  local world <close> = fake.world()
  world:edit("nodes 180", "nodes 181")
  check_failure(world, {"fetch", "toy"}, {}, "it has 180 nodes, 181 expected")
  world:edit("nodes 181", "nodes 180")
  world:edit("toy.npz\n\n", "toy.npz\n  file     - - more.npz\n\n")
  check_failure(world, {"fetch", "toy"}, {}, "has not all the files of toy: toy.npz, more.npz")
  world:edit("  file     - - more.npz", "  fill     more.npz")
  check_failure(world, {"fetch", "toy"}, {}, "registry: ", "line 19 is not understood:   fill")
  world:edit("  fill     more.npz", "  file     - - ../more.npz")
  check_failure(world, {"fetch", "toy"}, {}, "line 19: file must be ")
  lu.assertEquals(world:cached(), "")
end

--- The registry that ships can be read, and says of every data set what is to be said.
function tests.test_own_registry()
  local registry = require "ladies.data.store.registry"
  lu.assertEquals(#registry.names(), 7)
  for _, name in ipairs(registry.names()) do
    local entry = registry.find(name)
    for _, key in ipairs{"about", "licence", "cite", "expect"} do
      lu.assertNotNil(entry[key], name .. ": " .. key)
    end
    lu.assertTrue(entry.expect.nodes > 0 and #entry.files > 0)
    lu.assertIsString(registry.origin(entry.archive))
    for _, file in ipairs(entry.files) do
      if file.sha256 then lu.assertStrMatches(file.sha256, ("%x"):rep(64)) end
      lu.assertEquals(file.sha256 ~= nil, file.size ~= nil)
    end
  end
end

-- ---------------------------------------------------------------- the cache

function tests.test_damaged_in_the_cache()
  local world <close> = fake.world()
  lu.assertEquals(select(3, world:run{"fetch", "toy"}), 0)
  local path = world.cache .. "/toy.npz"
  local whole = fake.read(path)
  local middle = #whole // 2
  local half = whole:sub(1, middle)
  for _, damaged in ipairs{half, half .. "??" .. whole:sub(middle + 3)} do
    fake.write(path, damaged)
    check_failure(world, {"info", "toy"}, {"LADIES_OFFLINE=1"}, "toy.npz is damaged; fetch")
    local _, err, status = world:run{"info", "toy"}
    lu.assertEquals({status, err},
      {0, ("ladies.data.load: %s is damaged; fetching it again\n"):format(path)})
    lu.assertTrue(fake.read(path) == whole)
  end
  lu.assertEquals(world:runs(), 3)
end

function tests.test_half_of_a_pair()
  local world <close> = fake.world()
  lu.assertEquals(select(3, world:run{"fetch", "toy"}), 0)
  for _, file in ipairs{"toy.npz", "toy.json"} do
    core.folder.remove(world.cache .. "/" .. file)
    check_failure(world, {"info", "toy"}, {"LADIES_OFFLINE=1"}, 'no data set "toy" here')
    lu.assertEquals(select(3, world:run{"fetch", "toy"}), 0)
  end
  fake.write(world.cache .. "/toy.json", "{")
  check_failure(world, {"info", "toy"}, {"LADIES_OFFLINE=1"}, 'no data set "toy" here')
end

function tests.test_no_place_for_a_cache()
  local world <close> = fake.world()
  for _, place in ipairs{"/dev/null/cache", "/proc/cache"} do
    check_failure(world, {"fetch", "toy"}, {"LADIES_CACHE=" .. place}, place, "cannot be made")
  end
end

return tests
