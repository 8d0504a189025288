--- Importing what a user has: folders and archives that are right, and archives that are traps.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local fake = require "tools.fake_sources"
local malformed = require "tools.malformed"
local shell = require "tools.shell"
local tar = require "tools.tar"

local tests = {}

local function check_import(world, words, name)
  lu.assertStrContains(shell.silent(world:run{"import", table.unpack(words)}), "nodes      180")
  lu.assertEquals(world:cached(), ("%s.json\n%s.npz\n"):format(name, name))
  lu.assertStrContains(shell.silent(world:run({"info", name}, {"LADIES_OFFLINE=1"})),
    name .. "\n  nodes      180")
  core.folder.remove(world.cache)
end

local function check_refusal(world, words, ...)
  shell.refuses({"ladies import: ", ...}, world:run{"import", table.unpack(words)})
  lu.assertEquals(world:cached(), "")
end

function tests.test_forms()
  local world <close> = fake.world()
  local npz = fake.read(world.npz)
  core.folder.make(world.path .. "/mine/deep/down")
  fake.write(world.path .. "/mine/deep/down/toy.npz", npz)
  fake.write(world.path .. "/mine.npz.gz", malformed.gzip(npz))
  check_import(world, {world.npz}, "toy")
  check_import(world, {world.npz, "--name", "other"}, "other")
  check_import(world, {world.path .. "/mine.npz.gz"}, "mine")
  check_import(world, {world.path .. "/mine"}, "toy")
  core.folder.make(world.path .. "/other")
  ladies.data.save(ladies.data.load(world.npz), world.path .. "/other/toy.safetensors")
  check_import(world, {world.path .. "/other"}, "toy")
  local archive = tar.archive{{name = "mine/", kind = "5"}, {name = "mine/toy.npz", data = npz}}
  fake.write(world.path .. "/packed.tar", archive)
  check_import(world, {world.path .. "/packed.tar"}, "toy")
  check_import(world, {world.path .. "/packed.tar", "--name", "toy"}, "toy")
  fake.write(world.path .. "/packed.tgz", malformed.gzip(archive))
  check_import(world, {world.path .. "/packed.tgz"}, "toy")
  check_import(world, {world.path .. "/mine/", "--name", "toy"}, "toy")
  check_import(world, {world.archive}, "toy")
  check_import(world, {world.archive, "--name", "toy"}, "toy")
  check_import(world, {world.archive, "--name", "toy-wheel"}, "toy-wheel")
  lu.assertEquals(world:runs(), 0)
end

function tests.test_which()
  local world <close> = fake.world()
  local npz = fake.read(world.npz)
  fake.write(world.archive, malformed.zip{{name = "a/x.npz", data = npz},
    {name = "a/y.npz", data = npz}, {name = "notes.txt", data = "text"}})
  check_refusal(world, {world.archive}, "which of them? --name NAME; there are x, y")
  check_refusal(world, {world.archive, "--name", "z"}, "which of them?")
  check_refusal(world, {world.archive, "--name", "../z"}, "cannot be the name of a data set")
  check_import(world, {world.archive, "--name", "y"}, "y")
end

--- Folders of tables are asked about as files are.
function tests.test_which_folder()
  local world <close> = fake.world()
  local function archive(...)
    local members = {}
    for _, folder in ipairs{...} do
      for name, data in pairs{["edges.csv"] = "0,1\n", ["labels.csv"] = "0\n1\n",
        ["features.csv"] = "1\n0\n"} do
        members[#members + 1] = {name = folder .. "/" .. name, data = data}
      end
    end
    fake.write(world.archive, malformed.zip(members))
  end
  archive("x", "x/old", "y")
  check_refusal(world, {world.archive}, "which of them? --name NAME; there are x, y")
  archive("a/x", "b/x")
  check_refusal(world, {world.archive}, "has two data sets called x: a/x and b/x; unpack it")
  archive("x", "x/old")
  local out, _, status = world:run{"import", world.archive}
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, "nodes      2")
end

function tests.test_what_holds_nothing()
  local world <close> = fake.world()
  check_refusal(world, {}, "what? ladies import PATH")
  check_refusal(world, {world.path .. "/nothing"}, "does not exist")
  lu.assertTrue(os.execute("mkfifo " .. shell.quote(world.path .. "/pipe")))
  for _, path in ipairs{world.path .. "/pipe", "/dev/null"} do
    check_refusal(world, {path}, "neither a file nor a folder")
  end
  check_refusal(world, {world.path .. "/bin"}, "no data set in it of a form that is known")
  check_refusal(world, {world.path .. "/registry.txt"}, "is one table, and nothing says")
  fake.write(world.path .. "/x.bin", "text")
  check_refusal(world, {world.path .. "/x.bin"}, "is not a zip archive")
  fake.write(world.path .. "/x.tar", ("\0"):rep(257) .. "ustar" .. ("\0"):rep(800))
  check_refusal(world, {world.path .. "/x.tar"}, "x.tar: no header of a member at byte 0")
  fake.write(world.path .. "/x.tar.gz", malformed.gzip(fake.read(world.path .. "/x.tar")))
  check_refusal(world, {world.path .. "/x.tar.gz"}, "x.tar: no header of a member at byte 0")
  fake.write(world.path .. "/x.tar.xz", "\xfd7zXZ\0" .. ("x"):rep(600))
  check_refusal(world, {world.path .. "/x.tar.xz"}, "x.tar.xz is packed with xz, which is not read")
end

--- A name that has a data set keeps it, unless it is asked to be replaced.
function tests.test_names_that_are_taken()
  local world <close> = fake.world()
  local other = ladies.data.load(world.npz)
  other.source = "elsewhere"
  ladies.data.save(other, world.path .. "/mine.npz")
  local first, second = {"import", world.npz, "--name", "x"},
    {"import", world.path .. "/mine.npz", "--name", "x"}
  lu.assertEquals(select(3, world:run(first)), 0)
  local before = fake.read(world.cache .. "/x.npz")
  local err = shell.refused(world:run(second))
  lu.assertStrMatches(err,
    "ladies import: there is a data set x, [^\n]*x.npz; %-%-replace [^\n]+\n")
  lu.assertEquals(fake.read(world.cache .. "/x.npz"), before)
  second[#second + 1] = "--replace"
  lu.assertEquals(select(3, world:run(second)), 0)
  lu.assertNotEquals(fake.read(world.cache .. "/x.npz"), before)
  for _, words in ipairs{{"--name", "wordnet"}, {"--name", "wordnet", "--replace"}} do
    shell.refuses("wordnet.npz, which would be found first; choose another one",
      world:run{"import", world.npz, table.unpack(words)})
  end
end

--- Under a name of the registry only the published files are taken.
function tests.test_other_files_of_a_published_name()
  local world <close> = fake.world()
  local folder = world.path .. "/mine"
  core.folder.make(folder)
  local data = ladies.data.load(world.npz)
  data.source = "elsewhere"
  ladies.data.save(data, folder .. "/toy.npz")
  check_refusal(world, {folder, "--name", "toy"}, "toy.npz is not the published one")
  check_refusal(world, {world.path .. "/bin", "--name", "toy"},
    "has not all the files of toy: toy.npz")
  check_import(world, {folder, "--name", "mine"}, "mine")
end

function tests.test_traps()
  local world <close> = fake.world()
  local npz = fake.read(world.npz)
  local fine = {name = "toy.npz", data = npz}
  local function refused(members, ...)
    fake.write(world.archive, type(members) == "string" and members or malformed.zip(members))
    check_refusal(world, {world.archive}, ...)
  end
  for _, name in ipairs{"../out.npz", "/tmp/out.npz", "a/../../o.npz", "..", "a\\b.npz", "a\0b"} do
    refused({fine, {name = name, data = npz}}, "a path out of the archive")
  end
  check_refusal(world, {world.archive, "--name", "toy-wheel"}, "a path out of the archive")
  refused({fine, fine}, "occurs twice")
  refused({{name = "toy.npz", data = npz, flags = 1}}, "is encrypted")
  refused({{name = "toy.npz", data = npz, method = 12}}, "compression method 12")
  refused({{name = "toy.npz", data = npz, mode = 0xA1FF}}, "is a symbolic link")
  refused({{name = "toy.npz", data = npz, crc = 1}}, "CRC is ")
  refused({{name = "toy.npz", data = npz, method = 8, size = #npz - 1}}, "inflates to more than")
  refused({{name = "toy.npz", data = npz, method = 8, size = #npz + 1}}, "inflates to")
  refused({{name = "toy.npz", data = npz, method = 8, size = 1 << 31}}, "cannot hold")
  local whole = malformed.zip{fine}
  for _, length in ipairs{4, 100, #whole - 30, #whole - 1} do
    refused(whole:sub(1, length), "zip: ")
  end
  fake.write(world.archive, malformed.zip{fine, {name = "C:/out.npz", data = npz}})
  check_refusal(world, {world.archive}, "the letter of a drive")
  for _, same in ipairs{"./toy.npz", ".//toy.npz"} do
    fake.write(world.archive, malformed.zip{fine, {name = same, data = npz}})
    check_refusal(world, {world.archive}, "are the same file")
  end
  -- Much is declared and little is there: the sum is looked at before anything is written.
  local bombs = {}
  for i = 1, 20 do
    bombs[i] = {name = i .. ".npz", data = "", method = 8, packed = ("x"):rep(70000),
      size = 72000000}
  end
  fake.write(world.archive, malformed.zip(bombs))
  check_refusal(world, {world.archive}, "would unpack to 1440000000 bytes, more than 100 times")
  -- A file and a folder of one name.
  fake.write(world.archive, malformed.zip{{name = "a", data = "x"}, {name = "a/b", data = "x"}})
  check_refusal(world, {world.archive}, "is not a folder")
  lu.assertNil(io.open(world.path .. "/out.npz"))
  lu.assertNil(io.open "/tmp/out.npz")
end

--- Planetoid's own files, whose checksums are in the registry that ships.
function tests.test_planetoid()
  local collection = os.getenv "LADIES_DATA"
  if not collection then lu.skip "LADIES_DATA is not set" end
  local folder <close> = shell.folder()
  local env = {"LADIES_CACHE=" .. folder.path, "LADIES_OFFLINE=1", "LADIES_DATA="}
  for name, entries in pairs{cora = "10,556", citeseer = "9,104", pubmed = "88,648"} do
    local out = shell.silent(shell.run_ladies({"import", collection .. "/planetoid", "--name",
      name}, {env = env}))
    lu.assertStrContains(out, "entries    " .. entries)
  end
end

-- ---------------------------------------------------------------- the parts

--- The examples of FIPS 180-4, and lengths around those of a block.
function tests.test_sha256()
  local file <close> = shell.file ""
  local function of(text)
    fake.write(file.path, text)
    return core.zip.sha256(file.path)
  end
  lu.assertEquals(of "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  lu.assertEquals(of "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  lu.assertEquals(of "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
  lu.assertEquals(of(("a"):rep(1000000)),
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  for _, length in ipairs{55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 65535, 65536, 65537} do
    local digest = of(("\xe9"):rep(length))
    lu.assertEquals(digest, (shell.run{"sha256sum", file.path}):match "%x+")
  end
end

return tests
