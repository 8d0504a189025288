--- Limits of size: what passes one is one clear error.
local here = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path

local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local shell = require "tools.shell"

local index = ladies.index

local tests = {}

-- ---------------------------------------------------------------- entries of a matrix

local FEW = 9                                             -- stands for 2^31 - 1

-- Twelve entries, 1 -> 2 -> ... -> 13.
local function path(values)
  return ladies.matrix{n_rows = 13, n_cols = 13, rows = ladies.range(1, 12),
    cols = ladies.range(2, 13), values = values}
end

-- Asserts that call(...) makes a matrix of more than FEW entries, unless no more than these fit.
local function refused(call, ...)
  lu.assertTrue(call(...).nnz > FEW)
  core.limit_entries(FEW)
  local ok, message = pcall(call, ...)
  core.limit_entries(0)
  lu.assertFalse(ok)
  lu.assertStrMatches(message, ".*matrix: %d+ entries; at most 9 fit.*")
end

function tests.test_made_from_arrays()
  refused(path)
  refused(path, ladies.ones(12))
  refused(ladies.sparse, ladies.ones(4, 4))
  refused(ladies.csr, {n_rows = 1, n_cols = 12, offsets = index{1, 13},
    columns = ladies.range(1, 12)})
end

function tests.test_made_from_matrices()
  local A = path()
  local few = ladies.matrix{n_rows = 13, n_cols = 13, rows = ladies.range(1, 6),
    cols = ladies.range(2, 7)}
  refused(few.symmetrize, few)
  refused(few.add_diag, few, 1)
  refused(few.rows, few, ladies.range(1, 6) .. ladies.range(1, 6))
  refused(A.slice, A, ladies.range(1, 12))
  refused(A.slice, A, ladies.range(1, 12), ladies.range(1, 13))
  refused(A.pick_cols, A, ladies.range(1, 13))
  local rng = ladies.rng(1)
  refused(function() return (A:sample_rows(ladies.range(1, 12), 1, {rng = rng})) end)
  refused(function()
    return (A:sample_rows(ladies.range(1, 12), 2, {rng = rng, replace = true}))
  end)
  refused(function() return (A:draw_cols(ladies.range(1, 12), 12, {rng = rng})) end)
end

function tests.test_generated()
  local labels, rng = ladies.range(1, 6), ladies.rng(1)
  refused(ladies.generate.chung_lu, ladies.ones(6), labels, 12, 0.5, rng)
  refused(ladies.generate.blocks, labels, ladies.ones(6, 6), rng)
end

--- Text told nobody how many entries it has: 2^31 edges wrote past the ends of arrays.
function tests.test_read_from_files()
  local folder <close> = shell.folder()
  local function written(name, text)
    local file <close> = assert(io.open(folder.path .. "/" .. name, "wb"))
    file:write(text)
    return folder.path .. "/" .. name
  end
  local edges, weighted, entries = {}, {}, {}
  for i = 1, 12 do
    edges[i] = ("%d %d\n"):format(i, i + 1)
    weighted[i] = ("%d %d 0.5\n"):format(i, i + 1)
    entries[i] = ("%d %d\n"):format(i + 1, i)
  end
  refused(ladies.text.read_edges, written("edges.txt", table.concat(edges)),
    {columns = {"id", "id"}})
  refused(ladies.text.read_edges, written("weighted.txt", table.concat(weighted)),
    {columns = {"id", "id", "number"}})
  for _, symmetry in ipairs{"general", "symmetric"} do
    refused(ladies.mtx.read, written("graph.mtx", "%%MatrixMarket matrix coordinate pattern "
      .. symmetry .. "\n13 13 12\n" .. table.concat(entries)))
  end
end

os.exit(lu.LuaUnit.new():runSuiteByInstances{{"limits", tests}}, true)
