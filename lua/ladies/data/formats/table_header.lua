--- What the header of a table says about its columns.

local table_header = {}

local function set(words)
  local all = {}
  for word in words:gmatch "%S+" do all[word] = true end
  return all
end

local NODE = set "node node_id id name"
local SOURCE, TARGET = set "source src from u", set "target dst dest destination to v"
local WEIGHT = set "weight weights w value"
local NO_TITLE = set "inf infinity nan na"

-- The number of the first column whose title is one of the words, or nil.
local function find(titles, words)
  for i, title in ipairs(titles) do
    if words[title:lower()] then return i end
  end
end

--- Whether the fields of a first line are all titles, by the rule of ladies.text.read for columns
-- of numbers.
function table_header.is_one(fields)
  for _, field in ipairs(fields) do
    if NO_TITLE[field:lower()] or not field:find "^[%a_\x80-\xff]" then return false end
  end
  return true
end

--- The numbers of the columns of the source and the target where both are called so; nil otherwise.
function table_header.ends(titles)
  local source, target = find(titles, SOURCE), find(titles, TARGET)
  if source and target then return source, target end
end

--- The number of the column of the nodes, or nil: called node, node_id, id or name.
function table_header.node(titles) return find(titles, NODE) end

-- The columns of the ends: those that are called so, or the first two where none is or one stands
-- at its place; nil otherwise.
local function guessed_ends(titles)
  local source, target = find(titles, SOURCE), find(titles, TARGET)
  if source and target then return source, target end
  local weight = find(titles, WEIGHT)
  if (source or 1) ~= 1 or (target or 2) ~= 2 or (weight or 3) < 3 then return nil end
  return 1, 2
end

-- The column of the weights, or nil; weighted: true where there must be one.
local function weight_of(titles, others, weighted)
  if weighted == false then return nil end
  for _, i in ipairs(others) do
    if WEIGHT[titles[i]:lower()] then return i end
  end
  return weighted and #others == 1 and others[1] or nil
end

--- The columns of edges below these titles: {source =, target =, weight = (or nil), unused =
-- {titles of the others}}; weighted: true, false or nil, as the titles say. nil and a message where
-- they do not say enough.
function table_header.edges(titles, weighted)
  local source, target = guessed_ends(titles)
  local all = table.concat(titles, ",")
  if not source then
    return nil, ("the header %s does not say which columns are source and target"):format(all)
  end
  local others, unused = {}, {}
  for i = 1, #titles do
    if i ~= source and i ~= target then others[#others + 1] = i end
  end
  local weight = weight_of(titles, others, weighted)
  if weighted and not weight then
    return nil, ("the header %s does not say which column is the weight"):format(all)
  end
  for _, i in ipairs(others) do
    if i ~= weight then unused[#unused + 1] = titles[i] end
  end
  return {source = source, target = target, weight = weight, unused = unused}
end

return table_header
