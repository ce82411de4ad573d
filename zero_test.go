package deed_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/schema/yaml"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// The public packages do not panic on zero values, nil pointers, nil maps and empty structs: they return an error, or
// what their documentation says. TestExportedNames compares the tables below with the source, so that they have every
// exported name. TestZeroValues calls all functions, and all methods of all types, with such values.

// documentedPanics has the functions that may panic on such values, because of a mistake in the program that calls them.
// Their documentation says so.
var documentedPanics = map[string]string{
	"fieldpath.Builder.Add": "fieldpath: Add to a nil Builder",
}

// exportedTypes has every exported type of the public packages, as a pointer.
var exportedTypes = []any{
	(*value.ConversionError)(nil), (*value.Decoder)(nil), (*value.Kind)(nil), (*value.Member)(nil),
	(*value.SyntaxError)(nil), (*value.Value)(nil),

	(*fieldpath.Builder)(nil), (*fieldpath.Element)(nil), (*fieldpath.Entry)(nil), (*fieldpath.KeyField)(nil),
	(*fieldpath.Kind)(nil), (*fieldpath.Path)(nil), (*fieldpath.Pattern)(nil), (*fieldpath.Set)(nil),
	(*fieldpath.SyntaxError)(nil),

	(*schema.Atom)(nil), (*schema.Catalog)(nil), (*schema.Document)(nil), (*schema.Error)(nil), (*schema.Field)(nil),
	(*schema.FieldDef)(nil), (*schema.GVK)(nil), (*schema.Key)(nil), (*schema.List)(nil), (*schema.ListDef)(nil),
	(*schema.Map)(nil), (*schema.MapDef)(nil), (*schema.Relationship)(nil), (*schema.Scalar)(nil),
	(*schema.Topology)(nil), (*schema.Type)(nil), (*schema.TypeDef)(nil), (*schema.TypeRef)(nil),

	(*structural.FieldError)(nil), (*structural.Reason)(nil), (*structural.Schema)(nil), (*structural.SchemaError)(nil),

	(*openapi.Definitions)(nil), (*openapi.Kind)(nil), (*openapi.Problem)(nil), (*openapi.SchemaError)(nil),

	(*builtin.ConvertError)(nil), (*builtin.Kind)(nil), (*builtin.ReadError)(nil), (*builtin.Release)(nil),
	(*builtin.Serving)(nil), (*builtin.Subresource)(nil),
	(*builtin.UnservedError)(nil),

	(*form.Error)(nil), (*form.Finding)(nil), (*form.Functions)(nil), (*form.Mode)(nil), (*form.Type)(nil), (*form.Types)(nil),

	(*typed.Diff)(nil), (*typed.Error)(nil), (*typed.Errors)(nil), (*typed.Option)(nil), (*typed.Reason)(nil),
	(*typed.Step)(nil), (*typed.Value)(nil),

	(*merge.Config)(nil), (*merge.Conflict)(nil), (*merge.Conflicts)(nil), (*merge.Converter)(nil), (*merge.Decision)(nil),
	(*merge.Engine)(nil), (*merge.Entry)(nil), (*merge.Filter)(nil), (*merge.Manager)(nil), (*merge.Managers)(nil),
	(*merge.ManyConflicts)(nil),
	(*merge.Operation)(nil), (*merge.Outcome)(nil), (*merge.Plan)(nil), (*merge.Request)(nil), (*merge.Result)(nil),
	(*merge.Rule)(nil),

	(*managedfields.BadRequestError)(nil), (*managedfields.Cache)(nil), (*managedfields.Change)(nil),
	(*managedfields.Config)(nil), (*managedfields.Converter)(nil), (*managedfields.Decoder)(nil),
	(*managedfields.Entry)(nil), (*managedfields.EntryError)(nil), (*managedfields.FieldManager)(nil),
	(*managedfields.Fields)(nil), (*managedfields.Object)(nil), (*managedfields.Plan)(nil), (*managedfields.Profile)(nil), (*managedfields.Status)(nil),
	(*managedfields.StatusCause)(nil), (*managedfields.StatusDetails)(nil), (*managedfields.TypeError)(nil),

	(*ownership.Change)(nil), (*ownership.CheckConfig)(nil), (*ownership.Code)(nil), (*ownership.Finding)(nil),
	(*ownership.Leftover)(nil), (*ownership.Migration)(nil), (*ownership.Notation)(nil), (*ownership.Owned)(nil),
	(*ownership.Owner)(nil), (*ownership.Request)(nil), (*ownership.Versions)(nil),
}

// exportedFunctions has every exported function of the public packages; generic ones for each type.
var exportedFunctions = []any{
	value.Bool, value.Compare, value.Float, value.FromAny, value.Int, value.List, value.Null, value.Object, value.Parse,
	value.String,

	structs.Decode, structs.From, structs.Into,

	fieldpath.Any, fieldpath.Field, fieldpath.Index, fieldpath.Item, fieldpath.Key, fieldpath.ParsePath, fieldpath.ParseSet,
	fieldpath.PatternOf, fieldpath.SetOf,

	schema.Compile, schema.NewCatalog, schema.ParseDocument, schema.ParseGVK, yaml.Parse,

	structural.Compile, structural.Metadata, structural.Versions,

	openapi.CRD, openapi.V2, openapi.V3,

	builtin.Config, builtin.Emulated, builtin.Empty, builtin.Kinds, builtin.Lookup, builtin.ReleaseOf, builtin.ScaleConfig,
	builtin.ServiceClass, builtin.Siblings, builtin.Type,

	form.AddQuantities, form.CompareQuantities, form.HasFraction, form.Parse, form.Quantity, form.RoundQuantity,

	typed.Compare, typed.Merge, typed.New, typed.Reconcile, typed.Untyped, typed.Walk,

	merge.ManagersOf, merge.New,

	managedfields.Decode, managedfields.Encode, managedfields.EntriesAfterScale, managedfields.FieldsOf[fieldpath.Set],
	managedfields.FieldsOf[[]byte], managedfields.FieldsOf[string], managedfields.FieldsOf[value.Value],
	managedfields.New, managedfields.NewCache, managedfields.ObjectFromAny, managedfields.ObjectOf,
	managedfields.ParseObject, managedfields.ProfileOf, managedfields.ScaleEntries, managedfields.StrategyNone, managedfields.ToStatus,

	ownership.ApplyAsKubectl, ownership.Check, ownership.ClientSideAppliers, ownership.Codes, ownership.EntriesOfLastApplied,
	ownership.EntriesPatch, ownership.Extract, ownership.HasLostOwners, ownership.Migrate, ownership.Owners,
	ownership.PlanMigration, ownership.Transfer, ownership.WouldChange,
}

// exportedVariables has every exported variable of the public packages that is no error.
var exportedVariables = map[string]any{
	"schema.Deduced": schema.Deduced, "schema/builtin.Catalog": builtin.Catalog, "schema/builtin.Current": builtin.Current, "managedfields.ChangeVersion": managedfields.ChangeVersion,
}

// TestExportedNames finds the exported names of the public packages in the source, and demands that the tables have them.
func TestExportedNames(t *testing.T) {
	tables := map[string]bool{}
	for _, f := range exportedFunctions {
		tables[functionName(reflect.ValueOf(f))] = true
	}
	for _, p := range exportedTypes {
		tables[typeName(reflect.TypeOf(p))] = true
	}
	for name := range exportedVariables {
		tables[name] = true
	}
	declared := map[string]string{}
	for _, dir := range publicPackages(t) {
		for name, doc := range declarations(t, dir) {
			declared[dir+"."+name] = doc
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if _, method, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], "."); !strings.Contains(method, ".") && !tables[name] {
			t.Errorf("%s is not in the tables of zero_test.go", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if _, ok := declared[name]; !ok {
			t.Errorf("%s is in the tables of zero_test.go, and not in the source", name)
		}
	}
	for name := range documentedPanics {
		if !strings.Contains(declared[name], "panics") {
			t.Errorf("%s may panic, and its documentation does not say so", name)
		}
	}
}

// publicPackages returns the folders of the packages that other modules can import.
func publicPackages(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || path == ".":
			return err
		case d.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod")) // of a nested module
			if name := d.Name(); err == nil || name[0] == '.' || name == "internal" || name == "testdata" || name == "cmd" {
				return filepath.SkipDir
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && strings.Contains(path, "/"):
			found[filepath.Dir(path)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// declarations returns what the package in dir exports, with its documentation: functions, types and variables by their
// names, and methods as Type.Method. Errors, constants and doors are left out.
func declarations(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiver(d) + d.Name.Name; ast.IsExported(name) && d.Name.IsExported() {
					out[name] = d.Doc.Text()
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					for _, name := range specNames(s, d.Tok) {
						out[name] = d.Doc.Text()
					}
				}
			}
		}
	}
	return out
}

// receiver returns the type that d is a method of, with a dot behind it, and "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return t.(*ast.Ident).Name + "."
}

// specNames returns the names that s, a part of a declaration, exports.
func specNames(s ast.Spec, of token.Token) (names []string) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Name.Name != "Internal" {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if of == token.VAR && name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// functionName and typeName return the name of a function, or of the type that a pointer type leads to, with its package.
func functionName(f reflect.Value) string {
	name, _, _ := strings.Cut(runtime.FuncForPC(f.Pointer()).Name(), "[")
	return strings.TrimPrefix(name, module)
}

func typeName(pointer reflect.Type) string {
	return strings.TrimPrefix(pointer.Elem().PkgPath(), module) + "." + pointer.Elem().Name()
}

// TestZeroValues calls every function and method with what programs pass by mistake, and with what came out of such calls.
func TestZeroValues(t *testing.T) {
	c := &caller{t: t, made: map[reflect.Type][]reflect.Value{}, panicked: map[string]bool{}}
	for _, v := range soundValues(t) {
		c.keep(reflect.ValueOf(v))
	}
	for range 3 { // each time, more values have been made
		for _, f := range exportedFunctions {
			c.call(functionName(reflect.ValueOf(f)), reflect.ValueOf(f))
		}
		for name, v := range exportedVariables {
			if f := reflect.ValueOf(v); f.Kind() == reflect.Func {
				c.call(name, f)
			}
		}
		for _, p := range exportedTypes {
			c.methods(reflect.TypeOf(p))
		}
	}
	for name := range documentedPanics {
		if !c.panicked[name] {
			t.Errorf("%s does not panic any more", name)
		}
	}
	t.Logf("%d calls", c.calls)
}

// soundValues returns values that no function makes of zero values.
func soundValues(t *testing.T) []any {
	thing := schema.GVK{Version: "v1", Kind: "Thing"}
	things, err := managedfields.New(managedfields.Config{GVK: thing, Types: map[string]*schema.Type{"v1": schema.Deduced}})
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := builtin.Lookup(schema.GVK{Version: "v1", Kind: "Pod"})
	config, err := kind.Config("")
	if err != nil {
		t.Fatal(err)
	}
	pods, err := managedfields.New(config)
	if err != nil {
		t.Fatal(err)
	}
	object, err := managedfields.ParseObject([]byte(`{"apiVersion":"v1","kind":"Thing"}`))
	if err != nil {
		t.Fatal(err)
	}
	null, err := typed.New(value.Null(), schema.Deduced)
	if err != nil {
		t.Fatal(err)
	}
	return []any{
		things, pods, kind, object, null, schema.Deduced, merge.New(merge.Config{}), typed.Untyped(value.List(value.Null())),
		fieldpath.SetOf(fieldpath.Path{fieldpath.Any(), fieldpath.Any()}),
	}
}

// caller calls functions, and keeps what they return as arguments for other calls.
type caller struct {
	t        *testing.T
	made     map[reflect.Type][]reflect.Value
	calls    int
	panicked map[string]bool
}

const (
	maxMade     = 10   // values of one type that are kept
	maxVariants = 8    // values of one type that are made
	maxCalls    = 2048 // of one function in one round
)

// methods calls the methods of the type that pointer leads to: those of values with values, and those of pointers with
// pointers, nil among them. To call a method of values with a nil pointer is to read through it, which panics in front of
// the call.
func (c *caller) methods(pointer reflect.Type) {
	t := pointer.Elem()
	if t.Kind() == reflect.Interface {
		return
	}
	for i := range pointer.NumMethod() {
		m := pointer.Method(i)
		if byValue, ok := t.MethodByName(m.Name); ok {
			m = byValue
		}
		c.call(typeName(pointer)+"."+m.Name, m.Func)
	}
}

// call calls f with all combinations of the variants of its parameters, or with maxCalls of them.
func (c *caller) call(name string, f reflect.Value) {
	in, all := make([][]reflect.Value, f.Type().NumIn()), 1
	for i := range in {
		in[i] = c.variants(f.Type().In(i), 3)
		all *= len(in[i])
	}
	for n := range min(all, maxCalls) {
		args, rest := make([]reflect.Value, len(in)), n
		if all > maxCalls {
			rest = n * (all / maxCalls)
		}
		for i, variants := range in {
			args[i] = variants[rest%len(variants)]
			rest /= len(variants)
		}
		c.once(name, f, args)
	}
}

// once calls f, and reports a panic that is not documented.
func (c *caller) once(name string, f reflect.Value, args []reflect.Value) {
	c.calls++
	defer func() {
		if p := recover(); p != nil {
			c.panicked[name] = true
			if want := documentedPanics[name]; want == "" || !strings.HasPrefix(fmt.Sprint(p), want) {
				c.t.Errorf("%s panics: %v\narguments: %v\n%s", name, p, args, debug.Stack())
			}
		}
	}()
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, out := range call(args) {
		c.keep(out)
	}
}

// keep keeps v and what is in it, as far as it is of a type of this module. Sequences are walked to their end, and to
// their first value only.
func (c *caller) keep(v reflect.Value) {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	t := v.Type()
	switch {
	case t.Kind() == reflect.Func && t.CanSeq():
		for x := range v.Seq() {
			c.keep(x)
		}
		for range v.Seq() {
			break
		}
	case t.Kind() == reflect.Func && t.CanSeq2():
		for x, y := range v.Seq2() {
			c.keep(x)
			c.keep(y)
		}
		for range v.Seq2() {
			break
		}
	case t.Kind() == reflect.Map:
		for _, key := range v.MapKeys()[:min(v.Len(), 1)] {
			c.keep(v.MapIndex(key))
		}
	case t.Kind() == reflect.Slice && v.Len() > 0:
		c.keep(v.Index(0))
	}
	named := t
	for named.Name() == "" && (named.Kind() == reflect.Pointer || named.Kind() == reflect.Slice) {
		named = named.Elem()
	}
	known := func(w reflect.Value) bool { return reflect.DeepEqual(v.Interface(), w.Interface()) }
	if strings.HasPrefix(named.PkgPath(), module) && len(c.made[t]) < maxMade && !slices.ContainsFunc(c.made[t], known) {
		c.made[t] = append(c.made[t], v)
	}
}

// variants returns values of type t that programs pass by mistake, the zero value first, and those that are kept. What is
// in them is varied to the given depth.
func (c *caller) variants(t reflect.Type, depth int) []reflect.Value {
	out := []reflect.Value{reflect.Zero(t)}
	if depth > 0 {
		out = append(out, c.composed(t, depth-1)...)
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		out = append(out, reflect.ValueOf(-1).Convert(t))
	case reflect.Uint8:
		out = append(out, reflect.ValueOf(math.MaxUint8).Convert(t))
	}
	return append(out[:min(len(out), maxVariants)], c.made[t]...)
}

// composed returns values of type t that have variants in them.
func (c *caller) composed(t reflect.Type, depth int) (out []reflect.Value) {
	switch t.Kind() {
	case reflect.Pointer:
		for _, v := range c.variants(t.Elem(), depth) {
			p := reflect.New(t.Elem())
			p.Elem().Set(v)
			out = append(out, p)
		}
	case reflect.Slice:
		if t.Elem() == reflect.TypeFor[byte]() {
			return texts
		}
		out = append(out, reflect.MakeSlice(t, 0, 0), reflect.MakeSlice(t, 2, 2))
		for _, v := range c.variants(t.Elem(), depth) {
			out = append(out, reflect.Append(reflect.MakeSlice(t, 0, 1), v))
		}
	case reflect.Map:
		out = append(out, reflect.MakeMap(t))
		for _, v := range c.variants(t.Elem(), depth) {
			m := reflect.MakeMap(t)
			m.SetMapIndex(reflect.Zero(t.Key()), v)
			out = append(out, m)
		}
	case reflect.Struct:
		for n := 1; n < maxVariants; n++ {
			if v, ok := c.structOf(t, n, depth); ok {
				out = append(out, v)
			}
		}
	case reflect.Interface:
		if t == reflect.TypeFor[any]() {
			return anything
		}
	}
	return out
}

// structOf returns a struct of type t whose exported fields are their variants of number n. It returns false if no field
// has so many.
func (c *caller) structOf(t reflect.Type, n, depth int) (v reflect.Value, ok bool) {
	v = reflect.New(t).Elem()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		if all := c.variants(t.Field(i).Type, depth); n < len(all) {
			v.Field(i).Set(all[n])
			ok = true
		}
	}
	return v, ok
}

// texts are JSON texts that say nothing, and what is none.
var texts = func() (out []reflect.Value) {
	for _, text := range []string{"", "null", "{}", "[]", `""`, `{"":{}}`, `{".":{}}`} {
		out = append(out, reflect.ValueOf([]byte(text)))
	}
	return out
}()

// anything are values for a parameter of type any.
var anything = func() (out []reflect.Value) {
	for _, v := range []any{
		map[string]any(nil), map[string]any{"": nil}, map[string]any{"metadata": map[string]any{"managedFields": []any{nil}}},
		[]any{nil}, map[string]string{}, []string(nil), (*int)(nil), struct{}{}, new(struct{}), func() {}, value.Value{},
	} {
		out = append(out, reflect.ValueOf(&v).Elem())
	}
	return out
}()
