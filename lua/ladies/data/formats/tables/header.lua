--- Finds out what the header of a table says about its columns.

local table_header = {}

local function set(words)
  local all = {}
  for word in words:gmatch "%S+" do all[word] = true end
  return all
end

local NODE = set "node node_id id name"
local SOURCE = set "source src from u head subject"
local TARGET = set "target dst dest destination to v tail object"
local WEIGHT = set "weight weights w value"
local TYPE = set "type edge_type relation rel predicate"
local TIME = set "time edge_time timestamp date datetime"
local NO_TITLE = set "inf infinity nan na"

-- Tells whether a title is that of a feature of edges: feature, feature_0, edge_attr, attr_price.
local function is_feature(title)
  return title:find "^feature" ~= nil or title:find "^attr" ~= nil or title:find "^edge_attr" ~= nil
end

-- Returns the number of the first column whose title is one of the words, or nil.
local function find(titles, words)
  for i, title in ipairs(titles) do
    if words[title:lower()] then return i end
  end
end

--- Tells whether all fields of a first line are titles, by the rule of ladies.text.read for columns
-- of numbers.
function table_header.is_one(fields)
  for _, field in ipairs(fields) do
    if NO_TITLE[field:lower()] or not field:find "^[%a_\x80-\xff]" then return false end
  end
  return true
end

--- Returns the numbers of the columns whose titles mean source and target if there are both;
-- otherwise nil.
function table_header.ends(titles)
  local source, target = find(titles, SOURCE), find(titles, TARGET)
  if source and target then return source, target end
end

--- Tells whether a title behind the first two is that of a time, a type, a weight or a feature of
-- edges.
function table_header.names_more(titles)
  for i = 3, #titles do
    local title = titles[i]:lower()
    if TIME[title] or TYPE[title] or WEIGHT[title] or is_feature(title) then return true end
  end
  return false
end

--- Returns the number of the column of nodes, whose title is node, node_id, id or name; or nil.
function table_header.node(titles) return find(titles, NODE) end

-- Returns the columns of source and target: those with such titles, or the first two if no title
-- contradicts that; otherwise nil.
local function guessed_ends(titles)
  local source, target = find(titles, SOURCE), find(titles, TARGET)
  if source and target then return source, target end
  local weight = find(titles, WEIGHT)
  if (source or 1) ~= 1 or (target or 2) ~= 2 or (weight or 3) < 3 then return nil end
  return 1, 2
end

-- Returns the column of the weights, or nil; weighted: true where there must be one.
local function weight_of(titles, others, weighted)
  if weighted == false then return nil end
  for _, i in ipairs(others) do
    if WEIGHT[titles[i]:lower()] then return i end
  end
  return weighted and #others == 1 and others[1] or nil
end

--- Returns the columns of edges below these titles: {source =, target =, are_named = whether both
-- have titles that mean this, weight =, type =, time = (each may be nil), features = {numbers},
-- unused = {titles of the others}}; weighted: true, false or nil, as the titles say. Returns nil
-- and a message where they do not say enough.
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
  local found = {source = source, target = target, are_named = table_header.ends(titles) ~= nil,
    weight = weight, features = {}, unused = unused}
  for _, i in ipairs(others) do
    local title = titles[i]:lower()
    if TYPE[title] and not found.type then
      found.type = i
    elseif TIME[title] and not found.time then
      found.time = i
    elseif is_feature(title) then
      table.insert(found.features, i)
    elseif i ~= weight then
      unused[#unused + 1] = titles[i]
    end
  end
  return found
end

return table_header
