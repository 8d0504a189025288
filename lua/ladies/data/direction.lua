--- Which way edges go. Readers give the entries that a source lists; here they are made to go both
-- ways, whatever the source, unless they are to be kept as they are:
--
--   "symmetrize"   the union of the matrix with its transpose: an entry without its reverse gets
--                  one of the same weight; of two with different weights both get the larger.
--                  Entries of the diagonal, self-loops, stay
--   "keep"         as listed: the edge from a to b lets b hear a, which is entry (b, a)
--
-- A file of ours says when the edges in it were kept; they are then kept again. A matrix of another
-- program's has the edge from a to b in row a and column b, as SciPy and NetworkX write it: where
-- edges are kept it is turned.

local grouped = require "ladies.base.grouped"
local notes = require "ladies.data.notes"

local direction = {}

--- The type of the option, for options.check.
direction.OPTION = "keep|symmetrize or nil"

local HOW = '--directed keep (in Lua directed = "keep") leaves them as they are'

-- What making `listed` symmetric has changed, in words.
local function tell(context, list, listed, both)
  local added = both.nnz - listed.nnz
  if added > 0 then
    notes.add(context, list, "%s of %s edges had no reverse and now go both ways; %s",
      grouped(added), grouped(listed.nnz - listed:loops()), HOW)
  else
    notes.add(context, list, "edges had other weights than their reverse and now have the larger; "
      .. "%s", HOW)
  end
end

--- Settles the adjacency among the fields of a data set, whose `directed` is what its file says or
-- nil, by the option `asked`; `directed` is afterwards true for edges that were kept and do not all
-- go both ways. Where there is a field `symmetrize`, it is called for the union with the transpose.
-- Where the field `from_rows` is true, the adjacency is a matrix of another program's.
function direction.apply(context, fields, asked)
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
  fields.adjacency = fields.symmetrize and fields.symmetrize() or listed:symmetrize()
  tell(context, fields.notes, listed, fields.adjacency)
end

--- Whether an open npz or safetensors `file` says that its edges are to be kept: "keep", or nil.
function direction.read(file)
  if not file:has "directed" then return nil end
  local dtype = file:dtype "directed"
  if dtype == "uint8" then return file:text "directed" == "keep" and "keep" or nil end
  if dtype ~= "<U4" then return nil end
  local words = file:strings "directed"
  return (words == "keep" or words[1] == "keep") and "keep" or nil
end

--- What direction.read will find in the file of a data set; nil where edges go both ways.
function direction.array(data)
  return data.directed and {"keep"} or nil
end

return direction
