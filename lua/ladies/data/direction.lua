--- Decides the direction of edges. Readers return the entries that a source lists; here edges are
-- made to go both ways, whatever the source, unless they are to be kept as they are:
--
--   "symmetrize"   the union of the matrix with its transpose: an entry without its reverse gets
--                  one of the same weight; of two with different weights both get the larger.
--                  Entries of the diagonal, self-loops, stay
--   "keep"         as listed: the edge from a to b, by which b receives from a, is entry (b, a)
--
-- A file of this program says when the edges in it were kept, so that they are kept again. A matrix
-- of another program has the edge from a to b in row a and column b, as SciPy and NetworkX write
-- it; where its edges are kept it is transposed.

local core = require "ladies_core"
local checks = require "ladies.data.checks"
local grouped = require("ladies.base.units").grouped
local notes = require "ladies.data.notes"

local direction = {}

--- direction.matrix(n, sources, targets [, weights]) -> Matrix, merged: the adjacency of n nodes
-- with an edge from each source to the target at the same place, and how many edges were given
-- more than once. A target receives from its source, so rows are targets and columns are sources.
function direction.matrix(n, sources, targets, weights)
  local matrix = core.matrix{n_rows = n, n_cols = n, rows = targets, cols = sources,
    values = weights}
  return matrix, #sources - matrix.nnz
end

--- The type of the option, for options.check.
direction.OPTION = "keep|symmetrize or nil"

local HOW = '--directed keep (in Lua directed = "keep") leaves them as they are'

-- Tells whether some entry of `listed` has another weight in `both`.
local function has_other_weights(listed, both)
  if not listed.values then return false end
  local now = both:entry_values()[both:find(listed:row_of(), listed:col_of())]
  return #now > 0 and now:equals(listed:entry_values()):min() == 0
end

-- Adds notes about what has changed when `listed` was made symmetric.
local function tell(context, list, listed, both)
  local added = both.nnz - listed.nnz
  if added > 0 then
    notes.add(context, list, "%s of %s edges had no reverse and now go both ways; %s",
      grouped(added), grouped(listed.nnz - listed:loops()), HOW)
  end
  if has_other_weights(listed, both) then
    notes.add(context, list, "edges had other weights than their reverse and now have the larger; "
      .. "%s", HOW)
  end
end

--- Makes the adjacency in the fields of a data set symmetric or leaves it as it is, by the option
-- `asked`, or else by the field `directed`, which the data set's file may have set. Afterwards
-- `directed` is true for edges that were kept and do not all go both ways. A field `symmetrize` is
-- a function that is called for the union with the transpose. Where the field `from_rows` is true,
-- the adjacency is a matrix of another program.
function direction.apply(context, fields, asked)
  if fields.edge_list then return end      -- see ladies.data.edges.list
  local listed = fields.adjacency
  local symmetric = listed:is_symmetric()
  local keep = (asked or fields.directed) == "keep"
  fields.directed = keep and not symmetric
  if fields.directed and fields.from_rows then
    fields.adjacency = listed:transpose()
    notes.add(context, fields.notes, "the matrix was turned, since in files rows are sources: the "
      .. "entry in row a and column b is the edge from a to b, which lets b hear a")
  end
  if keep or symmetric then return end
  if fields.edges then
    checks.fail(context, 'directed: the edges were saved as they were kept, one way; directed = '
      .. '"keep" (--directed keep) reads them so')
  end
  fields.adjacency = fields.symmetrize and fields.symmetrize() or listed:symmetrize()
  tell(context, fields.notes, listed, fields.adjacency)
end

--- Returns "keep" where an open npz or safetensors `file` says that its edges are to be kept;
-- otherwise nil.
function direction.read(file)
  if not file:has "directed" then return nil end
  local dtype = file:dtype "directed"
  if dtype == "uint8" then return file:text "directed" == "keep" and "keep" or nil end
  if dtype ~= "<U4" then return nil end
  local words = file:strings "directed"
  return (words == "keep" or words[1] == "keep") and "keep" or nil
end

--- Returns the array which says in the file of a data set that its edges are kept; nil where they
-- go both ways.
function direction.array(data)
  return data.directed and {"keep"} or nil
end

return direction
