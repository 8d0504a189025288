--- Finds places for the labels of points in a chart, so that no label lies on another label or on a
-- point that has one.

local svg = require "ladies.report.svg"

local CHARACTER, HEIGHT, MARK = 6.8, 13, 4.5   -- of a label, and half a mark, in pixels
local BESIDE = 8          -- how far a label may reach beyond the left or right end of the frame

-- Where a label may stand beside its point, the best place first, as directions {x, y}; and how far
-- out. From the second distance on a line leads from the label to its point.
local DIRECTIONS = {{0, -1}, {0, 1}, {1, 0}, {-1, 0}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}}
local DISTANCES = {0, 10, 20, 32, 46, 62}

-- Returns the box {left, top, right, bottom} of a label so wide, in a direction from a point.
local function box_at(place, width, direction, distance)
  local x = place[1] + direction[1] * (MARK + 2 + width / 2 + distance)
  local y = place[2] + direction[2] * (MARK + 1 + HEIGHT / 2 + distance)
  return {x - width / 2, y - HEIGHT / 2, x + width / 2, y + HEIGHT / 2}
end

local function mark_box(place)
  return {place[1] - MARK, place[2] - MARK, place[1] + MARK, place[2] + MARK}
end

local function overlap(a, b)
  return a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
end

-- Counts the boxes other than `own` that a box lies on.
local function count_overlaps(box, others, own)
  local n = 0
  for _, other in ipairs(others) do
    n = n + (other ~= own and overlap(box, other) and 1 or 0)
  end
  return n
end

local function is_within(box, frame)
  return box[1] >= frame[1] - BESIDE and box[3] <= frame[3] + BESIDE and box[2] >= frame[2]
    and box[4] <= frame[4]
end

-- Returns the square of the distance of a box from a place.
local function distance_of(box, place)
  local x = math.max(box[1] - place[1], 0, place[1] - box[3])
  local y = math.max(box[2] - place[2], 0, place[2] - box[4])
  return x * x + y * y
end

-- Tells whether a box is nearer to another point that has a label than to its own.
local function is_ambiguous(box, place, wanted)
  local own = distance_of(box, place)
  for _, other in ipairs(wanted) do
    if other.place ~= place and distance_of(box, other.place) < own then return true end
  end
  return false
end

-- Returns the line {x1, y1, x2, y2} from a point to the box of its label, and the box around it.
local function leader_of(place, box)
  local x = math.max(box[1], math.min(box[3], place[1]))
  local y = math.max(box[2], math.min(box[4], place[2]))
  return {place[1], place[2], x, y}, {math.min(x, place[1]) - 1, math.min(y, place[2]) - 1,
    math.max(x, place[1]) + 1, math.max(y, place[2]) + 1}
end

-- Returns the best box for a label: it lies on nothing in `taken`, the line to it on little of
-- that, and it is near to its point, nearer than to other points with labels, and on few marks.
-- Returns how far out it is, too. Where there is none, it is the place above the point.
local function best_box(one, taken, marks, wanted)
  local best, least, out
  for step, distance in ipairs(DISTANCES) do
    for order, direction in ipairs(DIRECTIONS) do
      local box = box_at(one.place, one.width, direction, distance)
      local _, around = leader_of(one.place, box)
      if is_within(box, one.frame) and count_overlaps(box, taken) == 0 then
        local cost = 2 * (step - 1) + 0.01 * order + 0.3 * count_overlaps(box, marks)
          + (step > 1 and count_overlaps(around, taken, one.mark) or 0)
          + (step == 1 and is_ambiguous(box, one.place, wanted) and 3 or 0)
        if not least or cost < least then best, least, out = box, cost, distance end
      end
    end
  end
  return best or box_at(one.place, one.width, DIRECTIONS[1], 0), out or 0
end

-- Returns the labels to be placed, the boxes of their marks, and those of all other marks.
local function labels_of(list, x, y_of)
  local wanted, taken, marks = {}, {}, {}
  for _, series in ipairs(list) do
    local y = y_of(series)
    local frame = {x.place(x.low), y.place(y.high), x.place(x.high), y.place(y.low)}
    for _, p in ipairs(series.points) do
      local place = {x.place(p[1]), y.place(p[2])}
      local label, mark = series.written and series.labels[p.i] or "", mark_box(place)
      if label ~= "" then
        wanted[#wanted + 1] = {text = label, width = CHARACTER * (utf8.len(label) or #label),
          place = place, mark = mark, frame = frame}
        taken[#taken + 1] = mark
      elseif series.style == "points" or series.style == "both" then
        marks[#marks + 1] = mark
      end
    end
  end
  return wanted, taken, marks
end

--- labels(add, list, x, y_of): draws the labels of the series that drawable.series returned by
-- calls of add(format, ...); x and y_of are as for chart_series.
return function(add, list, x, y_of)
  local wanted, taken, marks = labels_of(list, x, y_of)
  for _, one in ipairs(wanted) do
    local box, out = best_box(one, taken, marks, wanted)
    one.box, taken[#taken + 1] = box, box
    if out > 0 then
      local line, around = leader_of(one.place, box)
      taken[#taken + 1] = around
      add('<line class="leader" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>', table.unpack(line))
    end
  end
  for _, one in ipairs(wanted) do
    add('<text class="label" x="%.1f" y="%.1f" text-anchor="middle">%s</text>',
      (one.box[1] + one.box[3]) / 2, one.box[4] - 3, svg.text(one.text))
  end
end
