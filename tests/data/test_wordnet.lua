--- The embedded data set. The numbers and names below were counted apart from our code, by a Python
-- script over the same WordNet files.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local file_tools = require "tools.files"
local wordnet = require "ladies.data.formats.wordnet"

local tests = {}

local data = ladies.data.load "wordnet"

-- The number of synsets in each lexicographer file, number 0 first.
local LABELS = {
  14435, 3661, 3621, 51, 6650, 7509, 11587, 3039, 2016, 2964, 5607, 1074, 428, 2573, 2624, 3209,
  42, 1545, 11087, 641, 8030, 1061, 770, 1275, 437, 341, 3544, 2983, 1028, 547, 2383, 695, 1548,
  459, 243, 2196, 694, 343, 1408, 461, 847, 1106, 756, 81, 60,
}

-- The first and last synset of each file of WordNet, with its lexicographer file.
local NODES = {
  {1, "entity.n", "noun.Tops"}, {82115, "9/11.n", "noun.time"},
  {82116, "breathe.v", "verb.body"}, {95882, "deflagrate.v", "verb.weather"},
  {95883, "able.a", "adj.all"}, {114038, "unsaponified.a", "adj.ppl"},
  {114039, "a_cappella.r", "adv.all"}, {117659, "wrongfully.r", "adv.all"},
}

local DOG = {
  "domestic_animal.n", "puppy.n", "canine.n", "Canis.n", "pooch.n", "cur.n", "lapdog.n",
  "toy_dog.n", "hunting_dog.n", "working_dog.n", "dalmatian.n", "basenji.n", "pug.n", "Leonberg.n",
  "Newfoundland.n", "Great_Pyrenees.n", "spitz.n", "griffon.n", "corgi.n", "poodle.n",
  "Mexican_hairless.n", "flag.n", "pack.n",
}

-- The names without the numbers that make them unique.
local function lemmas(ids)
  local list = {}
  for i, id in ipairs(ids:to_table()) do list[i] = data.node_names[id]:gsub("%.%d+$", "") end
  return list
end

function tests.test_structure()
  local graph = data.graph
  lu.assertTrue(graph:is_symmetric())
  lu.assertEquals(graph:n_self_loops(), 0)
  lu.assertNil(graph.adjacency.values)
  for _, matrix in ipairs{graph.adjacency, data.features} do
    local offsets, columns = matrix:offsets():to_table(), matrix:col_of():to_table()
    for row = 1, matrix.n_rows do
      for entry = offsets[row] + 1, offsets[row + 1] - 1 do
        if columns[entry] <= columns[entry - 1] then lu.fail("row " .. row .. " is not sorted") end
      end
    end
  end
end

function tests.test_features()
  lu.assertNil(data.features.values)                             -- all ones
  lu.assertEquals(#data.feature_names, 1000)
  lu.assertEquals({data.feature_names[1], data.feature_names[213], data.feature_names[1000]},
    {"the", "animal", "rounded"})
  local counts = data.features:col_sums()
  lu.assertEquals({counts[1], counts[213], counts[1000]}, {41157, 442, 127})
  for i = 2, 1000 do
    local a, b = data.feature_names[i - 1], data.feature_names[i]
    lu.assertTrue(counts[i - 1] > counts[i] or counts[i - 1] == counts[i] and a < b, b)
    lu.assertStrMatches(b, "%l%l%l+")
  end
  local empty = 0
  for _, n in ipairs(data.features:degrees():to_table()) do
    if n == 0 then empty = empty + 1 end
  end
  lu.assertEquals(empty, 6741)
  local words = {}
  local columns = data.features:rows(ladies.index{data:find_node "dog.n"}):col_of()
  for i, column in ipairs(columns:to_table()) do
    words[i] = data.feature_names[column]
  end
  lu.assertEquals(words, {"the", "that", "from", "genus", "has", "member", "common", "been", "many",
    "man", "occurs", "times"})
end

function tests.test_labels()
  lu.assertEquals(data.labels:counts(45), LABELS)
  lu.assertEquals(data.class_names, wordnet.lexicographer_files)
  for _, node in ipairs(NODES) do
    lu.assertEquals(data.class_names[data.labels[node[1]]], node[3])
  end
  lu.assertEquals({data.class_names[6], data.class_names[39]}, {"noun.animal", "verb.motion"})
end

function tests.test_names()
  local names, seen = data.node_names, {}
  lu.assertEquals(#names, 117659)
  for i = 1, #names do
    local name = names[i]
    if seen[name] then lu.fail(name .. " occurs twice") end
    seen[name] = true
  end
  for _, node in ipairs(NODES) do
    lu.assertStrContains(names[node[1]], node[2])
    lu.assertEquals(data:find_node(names[node[1]]), node[1])
  end
  lu.assertEquals({data:find_node "dog.n", data:find_node "dog.n.2"}, {10816, 54022})
  lu.assertEquals(data:find_node "break.v.42" ~= nil, true)
  lu.assertNil((data:find_node "break.v.43"))
end

function tests.test_neighbours_of_a_dog()
  local dog = data.graph.adjacency:rows(ladies.index{data:find_node "dog.n"})
  lu.assertEquals(lemmas(dog:col_of()), DOG)
end

function tests.test_split()
  lu.assertEquals((data.train .. data.val .. data.test):sort():hash(),
    ladies.range(1, 117659):hash())
  local train, val, test = ladies.data.random_split(117659, {train = 0.1, val = 0.1, seed = 1})
  lu.assertEquals({data.train:hash(), data.val:hash(), data.test:hash()},
    {train:hash(), val:hash(), test:hash()})
end

function tests.test_file_is_small_with_its_licence_beside_it()
  lu.assertTrue(#file_tools.read(data.path) <= 5 * 2^20)
  lu.assertStrContains(file_tools.read((data.path:gsub("npz$", "LICENSE.txt"))),
    "THIS SOFTWARE AND DATABASE IS PROVIDED \"AS IS\"")
end

-- Returns the checksum and the length of every member of a zip file by name, from its directory.
-- The deflated bytes are left out, as they depend on zlib's version and level.
local function members(path)
  local text, found = file_tools.read(path), {}
  for at in text:gmatch "()PK\1\2" do
    local crc, _, bytes, length = ("<I4I4I4I2"):unpack(text, at + 16)
    found[text:sub(at + 46, at + 45 + length)] = ("%08x, %d bytes"):format(crc, bytes)
  end
  return found
end

function tests.test_made_again_with_the_same_arrays()
  local folder = "/usr/share/wordnet"
  local source = io.open(folder .. "/data.noun")
  if not source then lu.skip("WordNet's files are not in " .. folder) end
  source:close()
  local path = os.tmpname()
  local quiet = {arg = {"--folder", folder, "--out", path}, print = function() end}
  assert(loadfile(ladies.home() .. "/scripts/make_wordnet.lua", "t",
    setmetatable(quiet, {__index = _G})))()
  local again = members(path)
  os.remove(path)
  lu.assertStrContains(again["labels.npy"], ", 117787 bytes")
  lu.assertEquals(again, members(data.path))
end

--- The types of edges leave the graph as it is: without them it is the union of the relations.
function tests.test_relations()
  local A, rows, cols = data.graph.adjacency, ladies.index{}, ladies.index{}
  local n = 0
  for name, relation in pairs(data.graph.relations) do
    local inverse = data.graph.relations[data.edges.inverses[n + 1]]
    if name:find "^inverse" or name == "hypernym" or name == "has_part" then
      lu.assertTrue(inverse == relation:transpose(), name)
    end
    rows, cols, n = rows .. relation:row_of(), cols .. relation:col_of(), n + 1
  end
  lu.assertEquals({n, #data.edges}, {31, 375148})
  lu.assertTrue(A == ladies.matrix{n_rows = A.n_rows, n_cols = A.n_cols, rows = rows, cols = cols})
  local dog, canine = data:find_node "dog.n", data:find_node "canine.n"
  local hypernym = data.graph.relations.hypernym
  lu.assertEquals(hypernym:find(ladies.index{canine}, ladies.index{dog}):min() > 0, true)
  lu.assertEquals(ladies.data.load("wordnet", {parallel = "keep"}).graph.n_edges, 375148)
end

-- ---------------------------------------------------------------- the parser, on a small WordNet

local SMALL = {
  noun = {
    "  1 the licence  ",
    "00000010 05 n 02 dog 0 domestic_dog 0 002 @ 00000090 n 0000 + 00000020 v 0101 "
      .. '| an animal, the "best" friend; "the dog barked"  ',
    "00000050 18 n 01 dog 1 000 | a dull girl  ",
    "00000090 05 n 01 animal 0 002 ~ 00000010 n 0000 @ 00000090 n 0000 | a living thing  ",
  },
  verb = {"00000020 38 v 01 dog 0 001 + 00000010 n 0101 01 + 08 00 | go after the animal  "},
  adj = {"00000030 00 s 01 outback(a) 0 000 | of the outback  "},
  adv = {"00000040 02 r 01 well 0 001 \\ 00000030 a 0101 | in a good way  "},
}

-- Calls `f` with a folder that holds these files.
local function with_files(files, f)
  local folder = os.tmpname()
  os.remove(folder)
  core.mkdir(folder)
  for part, lines in pairs(files) do
    file_tools.write(folder .. "/data." .. part, table.concat(lines, "\n") .. "\n")
  end
  local results = table.pack(pcall(f, folder))
  for part in pairs(files) do os.remove(folder .. "/data." .. part) end
  os.remove(folder)
  return table.unpack(results, 1, results.n)
end

function tests.test_small_wordnet()
  local ok, net = with_files(SMALL, wordnet.read)
  lu.assertTrue(ok, net)
  lu.assertEquals(net.names, {"dog.n", "dog.n.2", "animal.n", "dog.v", "outback.a", "well.r"})
  lu.assertEquals(net.labels, {5, 18, 5, 38, 0, 2})
  lu.assertEquals(net.definitions[1], 'an animal, the "best" friend')
  -- The hyponym of the animal is its hypernym turned round; a derivation goes both ways.
  local derived = "derivationally_related_form"
  lu.assertEquals({net.sources, net.targets, net.types}, {{1, 1, 4, 1, 4, 1, 6},
    {3, 4, 1, 3, 1, 4, 5}, {"hypernym", derived, derived, "hypernym", derived, derived,
    "pertains_to"}})
  local words = wordnet.vocabulary(net.definitions, 4)
  lu.assertEquals(words, {"the", "animal", "after", "best"})
  local rows, columns = wordnet.occurrences(net.definitions, words)
  lu.assertEquals({rows, columns}, {{1, 1, 1, 4, 4, 4, 5}, {2, 1, 4, 3, 1, 2, 1}})
end

function tests.test_broken_wordnet()
  local function message_of(files)
    local ok, message = with_files(files, wordnet.read)
    lu.assertFalse(ok)
    return message
  end
  local whole = {}
  for part, lines in pairs(SMALL) do whole[part] = lines end
  for _, line in ipairs{"00000040 02 r 01 well 0 002 \\ 00000030 a 0101 | in a good way",
      "00000040 adv r 01 well 0 000 | in a good way", "00000040 02 r one well 0 000 | in a way"} do
    whole.adv = {line}
    lu.assertStrMatches(message_of(whole), ".*/data.adv:1: not the line of a synset")
  end
  whole.adv = {"00000040 02 r 01 well 0 001 \\ 00000031 a 0101 | in a good way"}
  lu.assertStrMatches(message_of(whole), ".*well.r points to a00000031, which is not there")
  whole.adv = nil
  lu.assertStrMatches(message_of(whole), ".*cannot read .*/data.adv: No such file.*")
end

return tests
