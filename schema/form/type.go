package form

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/value"
)

// kind is the kind of a Go type.
type kind uint8

// The kinds of Go types. Types from kindQuantity on have a custom decoder and encoder.
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
	kindRaw // any JSON; an absent value prints as null
	kindSchemaOrBool
	kindSchemaOrArray
	kindSchemaOrStrings
)

// basics are the types that have a name in descriptions.
var basics = map[string]kind{
	"string": kindString, "bool": kindBool, "int32": kindInt32, "int64": kindInt64, "float64": kindFloat, "bytes": kindBytes,
	"quantity": kindQuantity, "time": kindTime, "microtime": kindMicroTime, "duration": kindDuration,
	"intorstring": kindIntOrString, "raw": kindRaw, "any": kindRaw, "schemaorbool": kindSchemaOrBool,
	"schemaorarray": kindSchemaOrArray, "schemaorstrings": kindSchemaOrStrings,
}

// Type describes a Go type. It is immutable once its [Types] are complete. The nil Type holds any JSON unchanged.
// The zero Type is string.
type Type struct {
	kind kind
	name string // of a struct, such as core/v1.Pod, or of a named type as Go prints it; else empty
	key  string // of a map: the Go type of its keys
	elem *Type  // of a pointer, list or map; of a schemaor…: the schema

	// For structs only.
	lines  string // the descriptions of the fields; the first call of all reads them
	types  *Types
	once   sync.Once
	fields []field // sorted by name
	loud   []int   // indices of the fields that are not silent
	slots  []uint8 // by slot of a name: the index of the last field with that slot, else 0

	defaults fillers                       // for structs and named maps
	prints   func(value.Value) value.Value // for structs; may be nil
}

// anyJSON stands for the nil Type.
var anyJSON = &Type{kind: kindRaw}

// known returns t, and anyJSON for nil.
func (t *Type) known() *Type {
	if t == nil {
		return anyJSON
	}
	return t
}

// filler sets default values in a value that was sent.
type filler func(v value.Value, e env) value.Value

// fillers run one after the other.
type fillers []filler

func (f fillers) fill(v value.Value, e env) value.Value {
	for _, fill := range f {
		v = fill(v, e)
	}
	return v
}

// env has the inputs of default values, beside the value.
type env struct {
	now    func() time.Time
	stored bool // an empty list or map is unset, because storage drops it
}

// field is a field of a struct.
type field struct {
	name      string
	embedded  string // the embedded structs that contain the field, each name followed by a dot
	typ       *Type
	bare      kind // of typ, or of its element if typ is a pointer
	order     int  // the position in the Go struct
	omitEmpty bool
	omitZero  bool
	silent    bool // a field that was not sent is not printed
	required  bool
	enum      []string // the allowed values; nil allows all
}

// Types is a set of struct types by name. [Parse] makes it. It is safe for concurrent use once complete. The nil
// Types and the zero Types have no types.
type Types struct {
	structs  map[string]*Type
	defaults map[string]fillers                       // by the name of a struct type or a named map
	counts   map[string]int                           // likewise, the number of rules
	prints   map[string]func(value.Value) value.Value // likewise, by the name of a struct type
	mu       sync.Mutex
	refs     map[string]*Type // the types of fields, by their text
}

// Parse reads descriptions of struct types. A line has the name of a type. The indented lines below it are its
// fields:
//
//	core/v1.Volume
//		name string
//		hostPath? *core/v1.HostPathVolumeSource
//
// The name of a field is followed by ? if it is left out when empty, by ! if it is left out when zero, and by + if
// OpenAPI requires it. Before the name are the embedded structs that contain the field, each followed by a dot. The
// type of the field is *T, []T, {K}T, the name of a struct, or a basic type. {K}T is a map with keys of type K, or
// string if K is empty. @N:T is T under the name N. After the type may be the allowed values, separated by |.
//
// The first use of a struct type reads its field lines. A line with an unknown type panics then, because
// descriptions are generated.
//
// Cost: linear in the text for Parse, and linear in the lines of a type for its first use.
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

// Struct returns the struct type called name, and whether it exists.
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

// seek returns the index of the field called name, and whether it exists. For a missing field, the index is the
// position to insert it. all must have been called. Most names are found in one step, by their slot.
func (t *Type) seek(name string) (int, bool) {
	if i := t.slots[slot(name)]; int(i) < len(t.fields) && t.fields[i].name == name {
		return int(i), true
	}
	return slices.BinarySearchFunc(t.fields, name, func(f field, name string) int { return strings.Compare(f.name, name) })
}

// slot returns the slot, one of 256, for the field called name.
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

// field reads the description of a field of the struct called owner.
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

// ref returns the type for a text.
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
