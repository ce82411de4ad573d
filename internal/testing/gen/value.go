package gen

import (
	"slices"
	"strconv"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Values makes and changes values of types. Depth bounds their nesting, which ends recursive types.
type Values struct {
	*Choices
	Depth       int
	Duplicates  bool // sets and keyed lists may repeat an item
	PartialKeys bool // items of keyed lists may lack keys without a default, but not all
}

// Of makes a value that conforms to t, apart from the options of [Values].
func (g *Values) Of(t *schema.Type) value.Value { return g.of(t, g.Depth) }

func (g *Values) of(t *schema.Type, depth int) value.Value {
	if g.Chance(6) {
		return value.Null()
	}
	return g.filled(t, depth)
}

// filled makes a value of t that is not null, unless t admits only null.
func (g *Values) filled(t *schema.Type, depth int) value.Value {
	var makers []func() value.Value
	if t.Scalar() != schema.None {
		makers = append(makers, func() value.Value { return g.scalar(t.Scalar()) })
	}
	if t.List() != nil {
		makers = append(makers, func() value.Value { return g.list(t.List(), depth) })
	}
	if t.Map() != nil {
		makers = append(makers, func() value.Value { return g.object(t.Map(), depth) })
	}
	if len(makers) == 0 {
		return value.Null()
	}
	return Pick(g.Choices, makers...)()
}

var (
	words   = []string{"x", "y", "z", "w"}
	oddText = []string{"", "é", "<&>", "a\"b", "1", "null", "\n", "\u2028", "日本", "a.b", "\\", "x=y", "\x00"}
	numbers = []value.Value{
		value.Int(1), value.Int(2), value.Int(0), value.Int(80), value.Int(-1), value.Float(1), value.Float(0.5),
		value.Int(1000000), value.Float(1e21), value.Float(1e-7), value.Float(100), value.Int(1 << 40),
	}
)

func (g *Values) text() string {
	switch n := g.N(100); {
	case n < 80:
		return Pick(g.Choices, words...)
	case n < 92:
		return Pick(g.Choices, oddText...)
	}
	return "s" + strconv.Itoa(g.N(30))
}

func (g *Values) number() value.Value {
	switch n := g.N(100); {
	case n < 70:
		return Pick(g.Choices, numbers[:4]...)
	case n < 85:
		return Pick(g.Choices, numbers...)
	case n < 92:
		return value.Float(float64(g.N(30)))
	}
	return value.Int(int64(g.N(30)))
}

func (g *Values) scalar(s schema.Scalar) value.Value {
	if s == schema.Untyped {
		s = Pick(g.Choices, schema.String, schema.Numeric, schema.Boolean)
	}
	switch s {
	case schema.String:
		return value.String(g.text())
	case schema.Numeric:
		return g.number()
	case schema.Boolean:
		return value.Bool(g.N(2) == 1)
	}
	return value.Null()
}

// count chooses the number of items or members of a container: mostly few, sometimes none or many.
func (g *Values) count(depth int) int {
	switch {
	case depth <= 0:
		return 0
	case g.Chance(3):
		return 9 + g.N(16)
	}
	return g.N(5)
}

func (g *Values) object(m *schema.Map, depth int) value.Value {
	if depth <= 0 || g.Chance(8) {
		return value.Object()
	}
	members := map[string]value.Value{}
	for _, f := range m.Fields() {
		if g.Chance(60) {
			members[f.Name] = g.of(f.Type, depth-1)
		}
	}
	if m.Element() != nil {
		for range g.count(depth) {
			name := g.memberName()
			if t, _ := m.Lookup(name); t == m.Element() {
				members[name] = g.of(t, depth-1)
			}
		}
	}
	return objectOf(members)
}

func (g *Values) memberName() string {
	switch n := g.N(100); {
	case n < 80:
		return Pick(g.Choices, fieldNames[:5]...)
	case n < 92:
		return Pick(g.Choices, fieldNames...)
	}
	return g.text()
}

func objectOf(members map[string]value.Value) value.Value {
	var out []value.Member
	for name, v := range members {
		out = append(out, value.Member{Name: name, Value: v})
	}
	return value.Object(out...)
}

func (g *Values) list(l *schema.List, depth int) value.Value {
	var items []value.Value
	for range g.count(depth) {
		item := g.item(l, depth-1)
		if item.IsAbsent() || !g.fits(l, items, item) {
			continue
		}
		items = append(items, item)
	}
	return value.List(items...)
}

// fits reports whether item may be added to the items of l.
func (g *Values) fits(l *schema.List, items []value.Value, item value.Value) bool {
	identified := l.Topology() == schema.SetList || l.Topology() == schema.KeyedList
	return !identified || g.Duplicates && g.Chance(30) || !slices.ContainsFunc(items, func(other value.Value) bool {
		return sameIdentity(l, item, other)
	})
}

// sameIdentity reports whether two items of a set or keyed list have the same identity.
func sameIdentity(l *schema.List, a, b value.Value) bool {
	if l.Topology() == schema.SetList {
		return a.Equal(b)
	}
	for _, k := range l.Keys() {
		if !orDefault(a.Get(k.Name), k).Equal(orDefault(b.Get(k.Name), k)) {
			return false
		}
	}
	return true
}

func orDefault(v value.Value, k schema.Key) value.Value {
	if v.IsAbsent() {
		return k.Default
	}
	return v
}

// item makes an item of l, or an absent value if l admits none.
func (g *Values) item(l *schema.List, depth int) value.Value {
	element := l.Element()
	switch l.Topology() {
	case schema.SetList:
		if element.Scalar() == schema.None {
			return value.Value{}
		}
		return g.scalar(element.Scalar())
	case schema.KeyedList:
		if element.Map() == nil {
			return value.Value{}
		}
		return g.keyedItem(l, g.object(element.Map(), max(depth, 1)), depth)
	case schema.AtomicList, schema.IncompleteList:
		return g.of(element, depth)
	}
	return value.Value{}
}

// keyedItem returns item with its keys set.
func (g *Values) keyedItem(l *schema.List, item value.Value, depth int) value.Value {
	has := 0
	for _, k := range l.Keys() {
		if !item.Get(k.Name).IsAbsent() || !k.Default.IsAbsent() {
			has++
		}
	}
	for _, k := range l.Keys() {
		if item.Get(k.Name).IsAbsent() && k.Default.IsAbsent() {
			if g.PartialKeys && has > 0 && g.Chance(30) {
				continue
			}
			t, _ := l.Element().Map().Lookup(k.Name)
			item = item.With(k.Name, g.of(t, depth-1))
			has++
		}
	}
	return item
}
