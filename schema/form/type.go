package form

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/value"
)

// kind says what a Go type is.
type kind uint8

// The kinds of Go types. Those from kindQuantity on read and print themselves.
const (
	kindString kind = iota
	kindBool
	kindInt32
	kindInt64
	kindFloat
	kindBytes
	kindPointer
	kindList
	kindMap
	kindStruct
	kindQuantity
	kindTime
	kindMicroTime
	kindDuration
	kindIntOrString
	kindRaw // any JSON; nothing prints as null
	kindSchemaOrBool
	kindSchemaOrArray
	kindSchemaOrStrings
)

// basics are the types that have a name of their own in texts.
var basics = map[string]kind{
	"string": kindString, "bool": kindBool, "int32": kindInt32, "int64": kindInt64, "float64": kindFloat, "bytes": kindBytes,
	"quantity": kindQuantity, "time": kindTime, "microtime": kindMicroTime, "duration": kindDuration,
	"intorstring": kindIntOrString, "raw": kindRaw, "any": kindRaw, "schemaorbool": kindSchemaOrBool,
	"schemaorarray": kindSchemaOrArray, "schemaorstrings": kindSchemaOrStrings,
}

// Type describes a Go type. It is immutable once its [Types] are complete. The nil Type holds any JSON
// as it is; the zero Type is string.
type Type struct {
	kind kind
	name string // of a struct, such as core/v1.Pod, or of a named type as Go prints it; empty for others
	key  string // of a map: the Go type of its keys
	elem *Type  // of a pointer, list or map; of a schemaor…: the schema

	// For structs only.
	lines  string // describe the fields; read by the first call of all
	types  *Types
	once   sync.Once
	fields []field // sorted by name
	loud   []int   // indices of the fields that are not silent
	slots  []uint8 // by slot of a name: the index of a field of that name, or of any

	defaults fillers                       // for structs and named maps
	prints   func(value.Value) value.Value // for structs; nil without any
}

// anyJSON is what the nil Type stands for.
var anyJSON = &Type{kind: kindRaw}

// known returns t, and anyJSON for nil.
func (t *Type) known() *Type {
	if t == nil {
		return anyJSON
	}
	return t
}

// filler sets default values in a value, as it was sent.
type filler func(v value.Value, e env) value.Value

// fillers are carried out one after the other.
type fillers []filler

func (f fillers) fill(v value.Value, e env) value.Value {
	for _, fill := range f {
		v = fill(v, e)
	}
	return v
}

// env is what default values depend on beside the value.
type env struct {
	now    func() time.Time
	stored bool // an empty list or map is like none, because it is none once it was stored
}

// field is a member that a struct reads and prints.
type field struct {
	name      string
	embedded  string // the names of the embedded structs that it is a field of, each with a dot behind it
	typ       *Type
	bare      kind // of typ, or of what it points to
	order     int  // where the struct has it
	omitEmpty bool
	omitZero  bool
	silent    bool // what was not sent is not printed: no look at the type is needed
	required  bool
	enum      []string // the values that it may have; nil if any
}

// Types is a set of struct types by name. It is safe for concurrent use once complete. It is made by
// [Parse]; the nil Types and the zero Types have no types.
type Types struct {
	structs  map[string]*Type
	defaults map[string]fillers                       // by the name of a struct type or a named map
	counts   map[string]int                           // likewise, how many rules there are
	prints   map[string]func(value.Value) value.Value // likewise, by the name of a struct type
	mu       sync.Mutex
	refs     map[string]*Type // every type that a field refers to, by its text
}

// Parse reads descriptions of struct types: a line with the name of each, and below it an indented line for each
// field, as
//
//	core/v1.Volume
//		name string
//		hostPath? *core/v1.HostPathVolumeSource
//
// The name of a field is followed by ? if it is left out when empty, by ! if it is left out when zero, and by + if
// OpenAPI requires it. In front of it stand the names of embedded structs that it is a field of, each with a dot
// behind it. Its type is *T, []T, {}T (a map), the name of a struct, or one of the basic types; @N:T is T
// under the name N. After the type may stand the values that the field may have, separated by |. What a field's
// line says is read when a value of its struct is first looked at; it is an error only then, and a panic:
// descriptions are generated.
//
// Parse takes time in proportion to the text, and the first use of a type in proportion to its own lines.
func Parse(text string) *Types {
	ts := &Types{structs: map[string]*Type{}, counts: map[string]int{}, defaults: map[string]fillers{}, refs: map[string]*Type{}}
	for len(text) > 0 {
		name, rest, _ := strings.Cut(text, "\n")
		end := 0
		for strings.HasPrefix(rest[end:], "\t") {
			line, _, _ := strings.Cut(rest[end:], "\n")
			end = min(end+len(line)+1, len(rest))
		}
		ts.structs[name] = &Type{kind: kindStruct, name: name, lines: rest[:end], types: ts}
		text = rest[end:]
	}
	return ts
}

// Struct returns the struct type called name, and whether there is one.
func (ts *Types) Struct(name string) (*Type, bool) {
	if ts == nil {
		return nil, false
	}
	t, ok := ts.structs[name]
	return t, ok
}

// all returns the fields of a struct, sorted by name.
func (t *Type) all() []field {
	t.once.Do(func() {
		t.defaults, t.prints = t.types.defaults[t.name], t.types.prints[t.name]
		for line := range strings.Lines(t.lines) {
			t.fields = append(t.fields, t.types.field(t.name, strings.TrimSpace(line), len(t.fields)))
		}
		slices.SortStableFunc(t.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
		t.slots = make([]uint8, 256)
		for i, f := range t.fields {
			t.slots[slot(f.name)] = uint8(i)
			if !f.silent {
				t.loud = append(t.loud, i)
			}
		}
	})
	return t.fields
}

// seek returns the index of the field called name, given that all was called, or where it would be among the fields, and
// whether there is one. Names are found in one step, but for those whose slot another field has.
func (t *Type) seek(name string) (int, bool) {
	if i := t.slots[slot(name)]; int(i) < len(t.fields) && t.fields[i].name == name {
		return int(i), true
	}
	return slices.BinarySearchFunc(t.fields, name, func(f field, name string) int { return strings.Compare(f.name, name) })
}

// slot returns where a struct has the index of the field called name, which may be any of 256 places.
func slot(name string) uint8 {
	if name == "" {
		return 0
	}
	n := len(name)
	return uint8(n*31) ^ name[0] ^ name[n-1]*7 ^ name[n/2]*59
}

// lookup returns the field called name, or nil.
func (t *Type) lookup(name string) *field {
	fields := t.all()
	if i, ok := t.seek(name); ok {
		return &fields[i]
	}
	return nil
}

// field reads the line of a field of the struct called owner.
func (ts *Types) field(owner, line string, order int) field {
	name, rest, _ := strings.Cut(line, " ")
	ref, enum, _ := strings.Cut(rest, " ")
	f := field{typ: ts.ref(ref), order: order}
	if named, ok := strings.CutPrefix(ref, "@"); ok {
		named, _, _ = strings.Cut(named, ":")
		if fill := ts.defaults[owner[:strings.IndexByte(owner, '.')]+":"+named]; fill != nil {
			f.typ = &Type{kind: f.typ.kind, name: f.typ.name, key: f.typ.key, elem: f.typ.elem, defaults: fill}
		}
	}
	f.name = strings.TrimRight(name, "?!+")
	if dot := strings.LastIndexByte(f.name, '.') + 1; dot > 0 {
		f.embedded, f.name = f.name[:dot], f.name[dot:]
	}
	f.omitEmpty, f.omitZero, f.required = strings.Contains(name, "?"), strings.Contains(name, "!"), strings.Contains(name, "+")
	f.silent = f.omitEmpty && f.typ.kind < kindStruct || f.typ.kind == kindPointer && f.omitZero
	f.bare = f.typ.kind
	if f.bare == kindPointer {
		f.bare = f.typ.elem.kind
	}
	if enum != "" {
		f.enum = strings.Split(enum, "|")
	}
	return f
}

// ref returns the type that a text stands for.
func (ts *Types) ref(text string) *Type {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.lockedRef(text)
}

func (ts *Types) lockedRef(text string) *Type {
	if t, ok := ts.structs[text]; ok {
		return t
	}
	if t, ok := ts.refs[text]; ok {
		return t
	}
	t := ts.newRef(text)
	ts.refs[text] = t
	return t
}

func (ts *Types) newRef(text string) *Type {
	if k, ok := basics[text]; ok {
		t := &Type{kind: k}
		if k >= kindSchemaOrBool {
			t.elem = ts.structs["apiextensions/v1.JSONSchemaProps"]
		}
		return t
	}
	switch {
	case strings.HasPrefix(text, "*"):
		return &Type{kind: kindPointer, elem: ts.lockedRef(text[1:])}
	case strings.HasPrefix(text, "[]"):
		return &Type{kind: kindList, elem: ts.lockedRef(text[2:])}
	case strings.HasPrefix(text, "{"):
		key, elem, _ := strings.Cut(text[1:], "}")
		return &Type{kind: kindMap, key: key, elem: ts.lockedRef(elem)}
	case strings.HasPrefix(text, "@"):
		name, under, _ := strings.Cut(text[1:], ":")
		t := ts.newRef(under)
		t.name = name
		return t
	}
	panic("form: no type is called " + text)
}
