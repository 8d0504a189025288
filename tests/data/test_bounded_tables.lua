--- Folders of tables that are converted to a file in less memory than their edges take: for any
-- bound the file has the data set that is made in memory; an error names the line of a mistake, and
-- leaves no files behind.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local message_of = require "tools.message_of"
local shell = require "tools.shell"

require "ladies.data.by_runs".check()

local tests = {}

function tests.tearDown()
  core.memory_fail_at(0)
  core.cancel_at(0)
end

local folder = shell.folder_of_each(tests)

-- Writes the tables of n nodes: every edge of `lines`, texts; labels, features and a split.
local function write_tables(n, lines)
  local labels, features, split = {}, {}, {}
  for i = 1, n do
    labels[i], features[i] = i % 3, ("%d,%g"):format(i % 100, 1 / i)
    split[i] = ({"train", "val", "test"})[i % 3 + 1]
  end
  for name, list in pairs{edges = lines, labels = labels, features = features, split = split} do
    core.file.write(("%s/%s.csv"):format(folder.path, name), table.concat(list, "\n") .. "\n")
  end
end

-- Makes random edges as texts, some of them loops, some given twice, some both ways.
local function random_edges(n, count)
  local rng, lines = ladies.rng(3), {}
  for i = 1, count do
    local a, b = rng:uniform() * n // 1, rng:uniform() ^ 3 * n // 1
    lines[i] = ("%d,%d"):format(a, b)
    if i % 10 == 0 then lines[i] = lines[i - 1] end
    if i % 10 == 5 then lines[i] = ("%d,%d"):format(a, a) end
  end
  return lines
end

local function fingerprint(data)
  return {data.graph.adjacency:hash(), data.labels:hash(), data.features:hash(), data.train:hash(),
    data.val:hash(), data.test:hash(), data.classes, data.source, data.directed}
end

-- Asserts that the data set at `source` is the same in a file, made with so much memory.
local function assert_same(source, path, opts)
  local want = ladies.data.load(source, {directed = opts.directed})

  ladies.data.to_file(source, path, opts)
  local data = ladies.data.load(path)
  lu.assertEquals(fingerprint(data), fingerprint(want))
  return data
end

function tests.test_the_same_for_any_memory()
  local out <close> = shell.folder()
  local path = out.path .. "/graph.safetensors"
  write_tables(700, random_edges(700, 9000))      -- three pieces of 4096 edges
  for _, memory in ipairs{"48K", "100K", "1G"} do
    for _, directed in ipairs{"symmetrize", "keep"} do
      assert_same(folder.path, path, {memory = memory, directed = directed})
      lu.assertEquals(core.files(out.path), {"graph.safetensors"})
    end
  end
end

--- A graph with so many edges that it is mapped while the data set is made comes out the same.
function tests.test_a_graph_in_a_file()
  local out <close> = shell.folder()
  local n, lines = 140000, {}
  for i = 0, 2 * n - 1 do lines[i + 1] = ("%d\t%d"):format(i % n, (i * 7 + i // n) % n) end
  write_tables(n, lines)
  local path = out.path .. "/graph.safetensors"
  assert_same(folder.path, path, {memory = "2M"})
  lu.assertEquals(core.files(out.path), {"graph.safetensors"})
  ladies.data.to_file(folder.path, path, {memory = "2M", self_loops = true, dtype = "float16"})
  local data = ladies.data.load(path, {features_in = "file"})
  lu.assertTrue(data.graph.adjacency == ladies.data.load(folder.path).graph:normalize "none")
  lu.assertEquals(data.features.dtype, "float16")
end

--- The notes on missing and repeated edges are the same for a graph in a file as for one in memory.
function tests.test_notes()
  write_tables(6, {"source,target", "0,1", "1,0", "2,3", "2,3", "4,4", "5,0"})
  local path = folder.path .. "/graph.safetensors"
  local function told(words)
    local out, err = shell.succeeded(shell.run_ladies(words))
    return (out .. err):match "[^\n]*had no reverse[^\n]*"
  end
  local want = told{"info", folder.path}
  lu.assertStrContains(want, "2 of 4 edges had no reverse")
  lu.assertEquals(told{"import", folder.path, "--out", path, "--memory", "20K"}, want)
end

--- Tables may have their columns in another order, other columns beside them, weights (which are
-- read whole), and names.
function tests.test_other_tables()
  local path = folder.path .. "/graph.safetensors"
  for _, lines in ipairs{{"when,target,source", "7,1,0", "8,2,1", "9,0,5"},
                         {"0 1", "5 2", "3 3"},
                         {"source,target,weight", "0,1,0.5", "1,2,2"},
                         {"0,1"}} do
    write_tables(6, lines)
    for _, directed in ipairs{"keep", "symmetrize"} do
      assert_same(folder.path, path, {memory = "20K", directed = directed})
    end
  end
  write_tables(6, {"0,1"})
  core.file.write(folder.path .. "/labels.csv", "node,class_0,class_1\n"
    .. "0,1,0\n1,0,1\n2,1,1\n3,0,0\n4,1,0\n5,1,0\n")
  assert_same(folder.path, path, {memory = "20K"})
  for _, names in ipairs{"class_names", "node_names"} do
    core.file.write(("%s/%s.txt"):format(folder.path, names), names == "class_names" and "a\nb\n"
      or "p\nq\nr\ns\nt\nu\n")
  end
  local data = assert_same(folder.path, path, {memory = "20K"})
  lu.assertEquals({data.class_names, data:find_node "s"}, {{"a", "b"}, 4})
end

--- The options of ladies.data.from_files hold in bounded memory, with names as ids and columns of
-- classes.
function tests.test_from_files()
  local function place(name, text)
    local path = folder.path .. "/" .. name
    core.file.write(path, text)
    return path
  end
  local given = {
    edges = place("e.txt", "b a\nc a\na b\na c\nc c\n"), ids = "strings",
    features = place("f.txt", "a 1 2\nb 3 4\nc 5 6\n"), classes = "strings",
    labels = place("l.txt", "b x\nc y\na x\n"), directed = "keep",
  }
  local path = folder.path .. "/graph.safetensors"
  ladies.data.to_file(given, path, {memory = "20K"})
  local data, want = ladies.data.load(path), ladies.data.from_files(given)
  lu.assertTrue(data.graph.adjacency == want.graph.adjacency)
  lu.assertEquals({data.labels, data.features, data.class_names, data:find_node "c"},
    {want.labels, want.features, {"x", "y"}, 3})
  ladies.data.to_file(given, path)                              -- read whole
  lu.assertTrue(ladies.data.load(path).graph.adjacency == want.graph.adjacency)
  given.edges = place("e.txt", "b a\nc d\n")
  for _, opts in ipairs{{memory = "20K"}, {}} do
    lu.assertStrContains(message_of(ladies.data.to_file, given, path, opts),
      'e.txt: the node "d" has no row in ' .. given.features)
  end
end

function tests.test_mistakes_are_told_by_line()
  local out <close> = shell.folder()
  local lines = random_edges(50, 6000)                          -- line 5000 is in the second piece
  for _, case in ipairs{{"7,x", 'line 5000, column 2: found "x", expected a whole number from 0'},
                        {"7,50", 'line 5000, column 2: found "50", expected at most 49'},
                        {"-1,5", 'line 5000, column 1: found "-1", expected a whole number'},
                        {"7", "line 5000, column 2"},
                        {"7,8,9", 'line 5000, column 3: found "9", expected no more than 2'},
                        {"", "line 5000 is blank"}} do
    lines[5000] = case[1]
    write_tables(50, lines)
    local opts = {memory = "20K"}
    local message = message_of(ladies.data.to_file, folder.path, out.path .. "/x.safetensors", opts)
    lu.assertStrContains(message, case[2])
    lu.assertStrContains(message, folder.path .. "/edges.csv")
    lu.assertEquals(message, message_of(ladies.data.load, folder.path))
    lu.assertEquals(core.files(out.path), {})
  end
  write_tables(50, random_edges(50, 6000))
  lu.assertStrContains(message_of(ladies.data.to_file, folder.path, out.path .. "/x.safetensors",
    {memory = 100}), "for which 100 bytes of memory are too few")
  lu.assertEquals(core.files(out.path), {})
end

--- An interruption, or lack of memory, at any moment leaves nothing behind, and what was there
-- stays.
function tests.test_interruptions_leave_nothing()
  local out <close> = shell.folder()
  write_tables(8, {"0,1", "1,2", "2,0", "3,3", "5,6"})
  local path = out.path .. "/graph.safetensors"
  core.file.write(path, "what was there")
  for _, set in ipairs{core.cancel_at, core.memory_fail_at} do
    local n, ok = 0
    repeat
      n = n + 1
      set(n)
      ok = pcall(ladies.data.to_file, folder.path, path, {memory = "20K"})
      set(0)
      lu.assertEquals(core.files(out.path), {"graph.safetensors"})
      if not ok then lu.assertEquals(core.file.read(path), "what was there") end
    until ok
    lu.assertTrue(n > 20)
    core.file.write(path, "what was there")
  end
end

--- A run that is killed leaves a file of another name at most.
function tests.test_a_killed_run()
  local out <close> = shell.folder()
  write_tables(3000, random_edges(3000, 60000))
  local path, killed = out.path .. "/graph.safetensors", 0
  local words = {shell.ladies, "import", folder.path, "--out", path, "--memory", "400K"}
  local began = core.clock()
  shell.succeeded(shell.run(words))
  local seconds = core.clock() - began
  os.remove(path)
  for part = 1, 7 do
    local status = select(3, shell.run{"timeout", "-s", "KILL",
      ("%.3f"):format(seconds * part / 8), table.unpack(words)})
    killed = killed + (status == 137 and 1 or 0)
    if core.exists(path) then
      lu.assertEquals(ladies.data.load(path).graph.n_nodes, 3000)     -- whole: it came too late
    end
    for _, name in ipairs(core.files(out.path)) do
      lu.assertTrue(name == "graph.safetensors" or not name:find "%.safetensors$", name)
    end
    os.remove(path)
  end
  lu.assertTrue(killed > 0)
end

function tests.test_pieces_of_a_table()
  local path = folder.path .. "/x.csv"
  core.file.write(path, "# words\nid,name,x\n3,a,1.5\n1,b,2\n2,a,-1\n")
  local names = ladies.text.names()
  local rows = ladies.text.reader(path, {columns = {"id", names, "number"}})
  collectgarbage()
  local ids, texts, numbers = rows:next(2)
  lu.assertEquals({ids:to_table(), texts:to_table(), numbers:to_table()},
    {{4, 2}, {1, 2}, {1.5, 2}})
  ids, texts, numbers = rows:next(5)
  lu.assertEquals({ids:to_table(), texts:to_table(), numbers:to_table()}, {{3}, {1}, {-1}})
  lu.assertEquals({rows:next(5)}, {})
  rows:close()
  lu.assertStrContains(message_of(rows.next, rows, 1), "closed")
  lu.assertStrContains(message_of(ladies.text.reader, folder.path .. "/none"), "cannot be opened")
end

return tests
