package flowcontrol

import (
	"math"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// level is a priority level. It is immutable, apart from its room, which it shares with the level of that name in other tables.
//
// Invariant: least <= nominal <= most, in seats.
type level struct {
	object               *flowcontrolv1.PriorityLevelConfiguration
	uid                  []string // the value of a header
	exempt               bool
	queuing              queuing
	least, nominal, most int
	seats                int // what it has; guarded by the mutex of the Controller
	room                 *room
}

// compileLevels returns the priority levels that were read, with their seats. A mandatory level that is missing is as it was, or as a
// cluster begins with it.
func (c *Controller) compileLevels() map[string]*level {
	out := map[string]*level{}
	var before map[string]*level
	if t := c.table.Load(); t != nil {
		before = t.levels
	}
	add := func(o *flowcontrolv1.PriorityLevelConfiguration) {
		queuing, ok := queuingOf(o)
		if !ok {
			return
		}
		l := &level{object: o, uid: []string{string(o.UID)}, exempt: o.Spec.Exempt != nil, queuing: queuing}
		if was := before[o.Name]; was != nil {
			l.room = was.room
		} else {
			l.room = newRoom()
		}
		out[o.Name] = l
	}
	for o := range c.levels.All() {
		add(o)
	}
	for _, o := range bootstrap.MandatoryPriorityLevelConfigurations {
		if out[o.Name] != nil {
			continue
		}
		if was := before[o.Name]; was != nil {
			o = was.object
		}
		add(o)
	}
	c.divide(out)
	adjust(out)
	return out
}

// queuingOf returns how requests of a level wait. Objects that were restored from another server are not validated: it returns false for one
// that cannot be a level.
func queuingOf(o *flowcontrolv1.PriorityLevelConfiguration) (q queuing, ok bool) {
	exempt, limited := o.Spec.Exempt, o.Spec.Limited
	if (exempt != nil) == (limited != nil) || (exempt != nil) != (o.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt) {
		return q, false
	}
	if limited == nil || limited.LimitResponse.Queuing == nil {
		return q, true
	}
	of := limited.LimitResponse.Queuing
	q = queuing{int(of.Queues), int(of.HandSize), int(of.QueueLengthLimit)}
	return q, 0 < q.hand && q.hand <= q.queues
}

// divide gives each level its part of all seats, by shares. Parts are rounded up.
func (c *Controller) divide(levels map[string]*level) {
	sum := 0.0
	for _, l := range levels {
		shares, _, _ := l.terms()
		sum += float64(shares)
	}
	for _, l := range levels {
		shares, lendable, borrowing := l.terms()
		if sum > 0 {
			l.nominal = int(math.Ceil(float64(c.seats) * float64(shares) / sum))
		}
		percent := func(of *int32) int { return int(math.Round(float64(l.nominal) * float64(*of) / 100)) }
		l.least, l.most = l.nominal, l.nominal+c.seats
		if lendable != nil {
			l.least -= percent(lendable)
		}
		if borrowing != nil {
			l.most = l.nominal + percent(borrowing)
		}
	}
}

// terms returns what a level says of its seats: its shares, how much of them it lends, and how much it may borrow. Nil is not said.
func (l *level) terms() (shares int32, lendable, borrowing *int32) {
	count := new(int32)
	if of := l.object.Spec.Limited; of != nil {
		count, lendable, borrowing = of.NominalConcurrencyShares, of.LendablePercent, of.BorrowingLimitPercent
	} else if of := l.object.Spec.Exempt; of != nil {
		count, lendable = of.NominalConcurrencyShares, of.LendablePercent
	}
	if count == nil {
		return 0, lendable, borrowing
	}
	return *count, lendable, borrowing
}

// adjust gives each level a limit by its demand since the last time. A level keeps the seats that it does not lend, and gets back those that
// it needs of its own. The levels share the rest in proportion to their smoothed demand.
//
// What exempt levels need is taken from all seats first. If the levels then cannot have what is theirs, each gets the same part of it.
func adjust(levels map[string]*level) {
	var limited []*level
	var claims []claim
	total, rest, least, needed := 0, 0, 0, 0
	for _, l := range levels {
		highest := l.room.measure()
		total += l.nominal
		if l.exempt {
			l.seats = max(l.least, highest)
			rest -= l.seats
			continue
		}
		lower := max(l.least, min(l.nominal, highest))
		limited = append(limited, l)
		claims = append(claims, claim{lower: float64(lower), upper: float64(l.most), wanted: max(float64(lower), l.room.smooth)})
		least, needed = least+l.least, needed+lower
	}
	rest += total
	parts := share(float64(total), claims)
	for i, l := range limited {
		switch {
		case rest <= least:
			l.seats = l.least
		case rest <= needed:
			part := float64(rest-least) / float64(needed-least)
			l.seats = l.least + int(math.Round((claims[i].lower-float64(l.least))*part))
		default:
			l.seats = int(math.Round(parts[i]))
		}
	}
	for _, l := range limited {
		l.room.configure(l.seats, l.queuing)
	}
}

// claim is what a level wants of the seats, and the bounds of what it gets.
//
// Invariant: 0 <= lower <= wanted, and lower <= upper.
type claim struct{ lower, wanted, upper float64 }

// leastWanted replaces a want of zero, so that an idle level gets a part of the seats that no other level wants.
const leastWanted = 0.001

// share divides a total: each claim gets what it wants times a factor, within its bounds. The factor is the same for all, and such that the
// parts have the total as their sum. If the bounds exclude that, each claim gets its lower or each its upper bound.
//
// The sum is a function of the factor that grows in straight lines. They meet where the part of a claim reaches a bound.
func share(total float64, claims []claim) []float64 {
	parts := make([]float64, len(claims))
	at := func(factor float64) (sum float64) {
		for i, c := range claims {
			parts[i] = max(c.lower, min(c.upper, factor*max(c.wanted, leastWanted)))
			sum += parts[i]
		}
		return sum
	}
	corners := []float64{0}
	for _, c := range claims {
		corners = append(corners, c.lower/max(c.wanted, leastWanted), c.upper/max(c.wanted, leastWanted))
	}
	slices.Sort(corners)
	for i, corner := range corners {
		sum := at(corner)
		if sum < total {
			continue
		}
		if i > 0 && sum > total {
			before := at(corners[i-1])
			at(corners[i-1] + (corner-corners[i-1])*(total-before)/(sum-before))
		}
		break
	}
	return parts
}
