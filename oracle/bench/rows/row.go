package rows

import (
	"fmt"

	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
)

// Group is a table of rows that include the same work.
type Group struct {
	Title string
	Doc   string // what is measured
	Rows  []Row
}

// Row is one comparison.
type Row struct {
	Name    string // without spaces, unique
	Bar     Bar
	Allocs  Bar  // for the ratio of allocations; the zero Bar stands for AllocBar
	Workers int  // at once; 0 means 1
	Fields  int  // when not 0, costs are those of one field: those of an operation divided by Fields
	Kept    int  // when not 0, the row is about the memory that results keep, as many of them
	Large   bool // takes seconds, so that quick runs leave it out
	Turns   bool // meets many objects before it is measured, so that quick runs leave it out
	Size    int  // when not 0, the row is about the bytes that are allocated for each byte of an object of that size; Bar is its limit
	build   func() (sides, error)

	// quarter makes the same work at a quarter of the size, where a row is about how the cost grows; else it is nil.
	quarter func() (sides, error)
}

// Grows reports whether the row is about how deed's cost grows with the size of its inputs, which are hostile.
func (r Row) Grows() bool { return r.quarter != nil }

// Quarter returns deed's way to do the work of a row that grows, at a quarter of its size.
func (r Row) Quarter() (deed measure.Side, err error) {
	both, err := r.quarter()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return both.deed, nil
}

// MaxGrowth is the bar for the exponent by which the cost of a row grows that [Row.Grows]: 1 is linear. Such a row must not
// be slower than the peer, either.
const MaxGrowth = 1.15

// Sides returns both ways to do the work of the row. Deed's and the peer's inputs are equal but share no memory.
func (r Row) Sides() (deed, peer measure.Side, err error) {
	both, err := r.build()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	return both.deed, both.peer, nil
}

// Bar says by how much deed should be faster than the peer. The zero Bar asks for nothing.
type Bar struct{ AtLeast, Aim float64 }

// AllocBar is the bar for the ratio of allocations, which goes for every row that has a bar for time.
var AllocBar = Bar{20, 200}

// The bars of the design.
var (
	updateBar  = Bar{12, 25}
	applyBar   = Bar{15, 30}
	nothingBar = Bar{25, 60}
	textBar    = Bar{12, 25}
	structBar  = Bar{12, 40}
	compareBar = Bar{20, 60}
	mergeBar   = Bar{15, 40}
	fieldsBar  = Bar{10, 20}
	parseBar   = Bar{4, 8}
	printBar   = Bar{8, 12}
	algebraBar = Bar{8, 12}

	turnUpdateBar   = Bar{14, 25}
	turnApplyBar    = Bar{18, 30}
	turnNothingBar  = Bar{24, 60}
	textTurnBar     = Bar{15, 30}
	textApplyBar    = Bar{18, 35}
	textNothingBar  = Bar{22, 45}
	coldBar         = Bar{9, 15}
	coldDecodeBar   = Bar{6, 10}
	createBar       = Bar{10, 20}
	createAllocsBar = Bar{15, 40}
	largeBar        = Bar{8, 15}
	bytesPerByteBar = Bar{4, 3}
)

// object is an object of the benchmark, by the name that it has in rows.
type object struct {
	name string
	kind fixture.Kind
	make func() any
}

var (
	pod        = object{"pod", fixture.BuiltIn("v1", "Pod"), func() any { return fixture.Pod() }}
	node       = object{"node", fixture.BuiltIn("v1", "Node"), func() any { return fixture.Node() }}
	deployment = object{"deployment", fixture.BuiltIn("apps/v1", "Deployment"), func() any { return fixture.Deployment() }}
	endpoints  = object{"endpoints-1000", fixture.BuiltIn("v1", "Endpoints"), func() any { return fixture.Endpoints(1000) }}
	definition = object{"definition", fixture.BuiltIn("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
		func() any { return fixture.Definition(60) }}
	custom    = customOf("custom-5000", 5000)
	selectors = object{"atomic-map-5000", fixture.BuiltIn("v1", "Pod"), func() any { return fixture.ManySelectors(5000) }}
	variables = object{"keyed-list-5000", fixture.BuiltIn("apps/v1", "Deployment"),
		func() any { return fixture.ManyVariables(5000) }}

	ordinary = []object{pod, node, deployment}
	large    = []object{endpoints, definition, custom}
)

func customOf(name string, fields int) object {
	return object{name, fixture.Widget, func() any { return fixture.Custom(fields) }}
}

// managersOf returns the creator, the applier from two managers on, and small appliers up to n managers.
func managersOf(n int) fixture.Managers { return fixture.Managers{Updaters: 1, Appliers: n - 1} }

// tell tells the story of o.
func (o object) tell(managers fixture.Managers) (*fixture.Story, error) {
	return fixture.Tell(o.kind, o.make(), managers)
}

// updateOf is the creator's update of one label.
func updateOf(s *fixture.Story) request {
	return request{s.Kind, update, fixture.Creator, s.Live, s.Updated, false}
}

// applyOf is the applier's next apply.
func applyOf(s *fixture.Story, config []byte) request {
	return request{s.Kind, apply, fixture.Applier, s.Live, config, false}
}
