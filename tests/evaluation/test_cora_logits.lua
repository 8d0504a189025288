--- Five propagations over the whole of Cora, with plain operations, against SciPy in float64
-- (fixtures/make_cora_logits.py). Needs LADIES_DATA with arrays/cora.npz.
local here = os.getenv "LADIES_SOURCE" .. "/tests"

local lu = require "luaunit"
local ladies = require "ladies"
local compare = require "reference.compare"

local TOLERANCE = 1e-5
local LAYERS = 5

local tests = {}

--- A matrix stored as NAME_indptr, NAME_indices, NAME_data and NAME_shape.
local function read_matrix(file, name)
  local shape = file:numbers(name .. "_shape")
  return ladies.csr{
    n_rows = shape[1], n_cols = shape[2],
    offsets = file:index(name .. "_indptr"), columns = file:index(name .. "_indices"),
    values = file:tensor(name .. "_data"),
  }
end

local function check(kind)
  local data_folder = os.getenv "LADIES_DATA"
  if not data_folder then lu.skip "LADIES_DATA is not set" end
  local data = ladies.npz.open(data_folder .. "/arrays/cora.npz")
  local fixture = ladies.npz.open(here .. "/fixtures/cora_logits.npz")

  local P = read_matrix(data, "adj"):normalize(kind, {self_loops = true})
  local hidden = read_matrix(data, "attr")  -- sparse: its product with the first weights is dense
  for layer = 1, LAYERS do
    local w, b = fixture:tensor("w" .. layer), fixture:tensor("b" .. layer)
    local z = P:matmul(hidden:matmul(w)) + b
    hidden = layer < LAYERS and z:relu() or z
  end
  local logits = hidden:gather(fixture:index "nodes")
  compare.assert_close(logits, fixture:numbers(kind), TOLERANCE, kind .. " logits")
end

function tests.test_symmetric() check "sym" end
function tests.test_row() check "row" end

return tests
