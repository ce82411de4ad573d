package cmd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/layers"
)

// Only package secret makes text of objects. The type system cannot enforce that, so these tests read the source, with types. Raw data is a
// value, a path, an element or a set of paths, an error, and everything that contains one of these. Outside of package secret
//
//   - raw data is not passed as any value, as to fmt and encoding/json, unless a method of this module defines its text: that method is under
//     the same rules;
//   - methods of raw data that make text are not called;
//   - the texts of libraries that may quote values are not read.
//
// fmt.Errorf may take raw data, because an error is raw itself. The tests do not see a variable with the text of a value: value.Value.Str
// is for names and for comparisons.

// textMethods holds the methods that turn raw data into text or plain Go values.
var textMethods = map[string]bool{
	"String": true, "Text": true, "Error": true, "AppendJSON": true, "MarshalJSON": true, "ToAny": true, "ErrorBody": true, "Into": true, "Wire": true,
}

// quoting holds the fields of errors and findings, by their types in the libraries, that may quote values.
var quoting = map[string]bool{
	"typed.Error.Detail": true, "typed.Error.Plain": true, "form.Finding.Reason": true, "form.Finding.Value": true,
	"form.Finding.Text": true, "field.Error.Detail": true, "field.Error.BadValue": true, "yaml.Error.Reason": true, "value.SyntaxError.Reason": true,
	"value.SyntaxError.Path": true, "managedfields.BadRequestError.Reason": true, "managedfields.Status.Message": true,
}

// raising holds the functions that take errors as errors. panic is one, too: only the type of its argument is shown.
var raising = map[string]bool{"fmt.Errorf": true, "errors.As": true, "errors.Is": true}

// printing holds the functions of libraries that turn typed raw data into text.
var printing = map[string]bool{"yaml.Append": true, "yaml.Write": true, "managedfields.ToStatus": true}

// allowed holds the functions that break a rule, with the reason why nothing is shown.
var allowed = map[string]string{
	"manifest.Object.defectiveItem": "finds an item by the text of an error",
	"manifest.Rewriter.Set":         "files get objects as they are",
	"manifest.Rewriter.Create":      "files get objects as they are",
	"manifest.TextOf":               "makes the text of a file, which is read as one",
	"cli.remote.text":               "names an object",
	"judge.Judge.send":              "sends an object to the server in the process",
	"checkpipe.textOf":              "asks another program of deed",
	"checkpipe.faultsOf":            "answers another program of deed, which makes it secret.Raw",
	"manifest.Reader.Object":        "names an object by the beginning of its name",
	"validation.classOf":            "looks at the first word",
	"entries.SizesOf":               "counts bytes",
	"history.Replayer.refuse":       "compares the text with the one that is expected",
	"validation.validated":          "makes it secret.Raw",
	"validation.Server.Validate":    "makes it secret.Raw",
	"types.isSpelled":               "compares a number with its spelling in a file",
	"types.Endpoint.Reading":        "makes it secret.Raw",
	"types.Endpoint.readingCustom":  "makes it secret.Raw",
	"types.Library.openAPIVersion":  "hands a document to its reader",
}

func TestOnlySecretMakesText(t *testing.T) {
	used := map[string]bool{}
	for _, p := range load(t, "./...") {
		name := strings.TrimPrefix(p.pkg.Path(), layers.Root+"/cmd/internal/")
		switch name {
		case "secret", "testobjects", "storytest", "manual": // the last three read no objects of users
			continue // the last three read no objects of users
		}
		for _, file := range p.files {
			c := checker{source: p, used: used}
			c.file(file)
			for _, found := range c.found {
				t.Error(found)
			}
		}
	}
	for name := range allowed {
		if !used[name] {
			t.Errorf("%s is allowed to make text, and does not", name)
		}
	}
}

// TestTextIsFound checks that the test above finds each way to make text of raw data.
func TestTextIsFound(t *testing.T) {
	const head = `package p
import (
	"encoding/json"
	"fmt"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)
var _, _, _ = json.Marshal, fmt.Sprint, managedfields.Decode
type inside struct { Deep []map[string]*value.Value }
func f(v value.Value, p fieldpath.Path, s fieldpath.Set, err error, c merge.Conflicts, o *manifest.Object, d *typed.Error, log *notice.Log, x inside) {
	%s
}
`
	library := load(t, "./internal/manifest")
	for _, body := range []string{
		`fmt.Println(v)`, `fmt.Print(p)`, `fmt.Sprintf("%v", s)`, `log.Problem(o.At(), "%v", err)`, `json.Marshal(x)`, `json.Marshal(o)`,
		`fmt.Println(c)`, `_ = any(v)`, `_ = v.String()`, `_ = p.Text()`, `_ = p.String()`, `_ = err.Error()`, `_ = c.Error()`,
		`_ = v.AppendJSON(nil)`, `_ = v.ToAny()`, `_ = d.Detail`, `_ = d.Plain`, `_ = managedfields.ToStatus(err)`, `fmt.Println(o.Content)`,
		`fmt.Println(&x)`, `fmt.Println([]any{v}...)`, `fmt.Println(v.Get("a").Str())`, `_ = "a" + v.Str()`, `var y any = v; _ = y`,
		`_ = []any{p}`, `f := v.String; _ = f`,
	} {
		if len(findIn(t, library, strings.ReplaceAll(head, "%s\n}", body+"\n}"))) == 0 {
			t.Errorf("not found: %s", body)
		}
	}
	for _, body := range []string{
		`fmt.Println(o, o.At(), o.Id)`, `_ = fmt.Errorf("%w", err)`, `log.Problem(o.At(), "%s", o.View().Error(err))`,
		`fmt.Println(o.View().Value(p, v))`, `_ = v.Str() == "a"`, `fmt.Println(v.Kind(), v.Len())`,
	} {
		if found := findIn(t, library, strings.ReplaceAll(head, "%s\n}", body+"\n}")); len(found) > 0 {
			t.Errorf("found: %s", found)
		}
	}
}

// source is a package of the command with its types.
type source struct {
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	from  types.Importer
}

// checker looks for text of raw data in a file.
type checker struct {
	*source
	function string
	prints   bool // whether a call prints like fmt, with the method String
	used     map[string]bool
	found    []string
}

func (c *checker) file(f *ast.File) {
	for _, d := range f.Decls {
		c.function = c.pkg.Name() + "." + nameOf(d)
		ast.Inspect(d, func(n ast.Node) bool { c.node(n); return true })
	}
}

// nameOf returns the name of a function, with its receiver.
func nameOf(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return "(declaration)"
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if ident, ok := receiver.(*ast.Ident); ok {
		return ident.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

func (c *checker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.call(n)
	case *ast.SelectorExpr:
		c.selector(n)
	case *ast.BinaryExpr:
		if n.Op == token.ADD && (c.isStr(n.X) || c.isStr(n.Y)) {
			c.add(n, "the text of a value is joined")
		}
	case *ast.CompositeLit:
		c.literal(n)
	case *ast.ValueSpec:
		for _, v := range n.Values {
			if n.Type != nil {
				c.convert(v, c.info.TypeOf(n.Type))
			}
		}
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN {
			for i, v := range n.Rhs {
				c.convert(v, c.info.TypeOf(n.Lhs[i]))
			}
		}
	}
}

// call checks the arguments of n.
func (c *checker) call(n *ast.CallExpr) {
	if tv := c.info.Types[n.Fun]; tv.IsType() {
		if len(n.Args) == 1 {
			c.convert(n.Args[0], tv.Type)
		}
		return
	}
	callee := c.callee(n)
	if ident, ok := n.Fun.(*ast.Ident); ok && ident.Name == "panic" || raising[callee] {
		return
	}
	c.prints = c.formats(n)
	defer func() { c.prints = false }()
	if printing[callee] {
		c.add(n, callee+" makes text of raw")
	}
	sig, ok := c.info.TypeOf(n.Fun).(*types.Signature)
	if !ok {
		return
	}
	for i, arg := range n.Args {
		param := paramType(sig, i, n.Ellipsis.IsValid())
		c.convert(arg, param)
		if takesAny(param) && c.isStr(arg) {
			c.add(arg, "the text of a value is printed")
		}
	}
}

// formats reports whether n calls a function with variadic arguments of any type, such as fmt.Printf and the methods of notice.Log.
func (c *checker) formats(n *ast.CallExpr) bool {
	sig, ok := c.info.TypeOf(n.Fun).(*types.Signature)
	return ok && sig.Variadic() && takesAny(paramType(sig, sig.Params().Len()-1, false))
}

// callee returns the package and the name of the called function, empty if it is no function of a package.
func (c *checker) callee(n *ast.CallExpr) string {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	f, ok := c.info.Uses[s.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() != nil {
		return ""
	}
	return f.Pkg().Name() + "." + f.Name()
}

func paramType(sig *types.Signature, i int, spread bool) types.Type {
	last := sig.Params().Len() - 1
	if sig.Variadic() && i >= last {
		list := sig.Params().At(last).Type()
		if s, ok := list.(*types.Slice); ok && !spread {
			return s.Elem()
		}
		return list
	}
	if i > last {
		return nil
	}
	return sig.Params().At(i).Type()
}

// literal checks the items of lists and maps, and the members of structs.
func (c *checker) literal(n *ast.CompositeLit) {
	t := c.info.TypeOf(n).Underlying()
	for i, e := range n.Elts {
		var into types.Type
		value := e
		pair, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			value = pair.Value
		}
		switch t := t.(type) {
		case *types.Slice:
			into = t.Elem()
		case *types.Array:
			into = t.Elem()
		case *types.Map:
			into = t.Elem()
		case *types.Struct:
			for j := range t.NumFields() {
				if ident, ok := keyOf(pair).(*ast.Ident); keyed && ok && t.Field(j).Name() == ident.Name || !keyed && i == j {
					into = t.Field(j).Type()
				}
			}
		}
		c.convert(value, into)
	}
}

func keyOf(pair *ast.KeyValueExpr) ast.Expr {
	if pair == nil {
		return nil
	}
	return pair.Key
}

// selector finds methods that make text of raw data, and fields that may quote values.
func (c *checker) selector(n *ast.SelectorExpr) {
	sel := c.info.Selections[n]
	if sel == nil {
		return
	}
	if f, ok := sel.Obj().(*types.Func); ok && textMethods[f.Name()] {
		if receiver := f.Signature().Recv().Type(); isRaw(receiver) || f.Name() == "Error" && isErrorMethod(f) {
			c.add(n, f.Name()+" makes text of raw")
		}
	}
	if f, ok := sel.Obj().(*types.Var); ok && f.IsField() && f.Pkg() != nil {
		owner := sel.Recv()
		if p, isPointer := owner.(*types.Pointer); isPointer {
			owner = p.Elem()
		}
		if named, isNamed := owner.(*types.Named); isNamed && named.Obj().Pkg() != nil && quoting[named.Obj().Pkg().Name()+"."+named.Obj().Name()+"."+f.Name()] {
			c.add(n, f.Name()+" may quote values")
		}
	}
}

func isErrorMethod(f *types.Func) bool {
	sig := f.Signature()
	return sig.Params().Len() == 0 && sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type(), types.Typ[types.String])
}

// isStr reports whether e is the text of a value.
func (c *checker) isStr(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Str" && isRaw(c.info.TypeOf(s.X))
}

// convert checks e, which is converted to t.
func (c *checker) convert(e ast.Expr, t types.Type) {
	if from := c.info.TypeOf(e); from != nil && takesAny(t) && !types.IsInterface(from.Underlying()) || from != nil && takesAny(t) && isError(from) {
		if c.shows(from, map[types.Type]bool{}) {
			c.add(e, fmt.Sprintf("a %v is passed as any value", from))
		}
	}
}

func (c *checker) add(n ast.Node, text string) {
	if _, ok := allowed[c.function]; ok {
		c.used[c.function] = true
		return
	}
	at := c.fset.Position(n.Pos())
	c.found = append(c.found, fmt.Sprintf("%s:%d: %s: %s; see package secret", at.Filename, at.Line, c.function, text))
}

// takesAny reports whether t is an interface for any value, such as any.
func takesAny(t types.Type) bool {
	if t == nil || !types.IsInterface(t) {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok && p != nil {
		return false
	}
	return t.Underlying().(*types.Interface).NumMethods() == 0
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isError(t types.Type) bool { return types.Implements(t, errorType) }

// isRaw reports whether t is a value, an element, a path or a set of paths, or an error.
func isRaw(t types.Type) bool {
	if t == nil {
		return false
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil {
		switch strings.TrimPrefix(named.Obj().Pkg().Path(), layers.Root+"/") + "." + named.Obj().Name() {
		case "value.Value", "fieldpath.Path", "fieldpath.Element", "fieldpath.Set", "managedfields.Fields", "managedfields.Object":
			return true
		}
	}
	return isError(t) || isError(types.NewPointer(t))
}

// shows reports whether the text of t contains raw data. A type of this module with a method for its text prints with that method.
func (c *checker) shows(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if isRaw(t) {
		return true
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && !ofThisProject(named.Obj()) {
		return false // a type of another module
	}
	if c.says(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return c.shows(u.Elem(), seen)
	case *types.Slice:
		return c.shows(u.Elem(), seen)
	case *types.Array:
		return c.shows(u.Elem(), seen)
	case *types.Map:
		return c.shows(u.Key(), seen) || c.shows(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i); (c.prints || f.Exported() || f.Embedded()) && c.shows(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

func ofThisProject(o types.Object) bool {
	return o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), layers.Root)
}

// says reports whether a method of this module defines the text of t: String for printing, and MarshalJSON for encoding.
func (c *checker) says(t types.Type) bool {
	name := "MarshalJSON"
	if c.prints {
		name = "String"
	}
	method, _, _ := types.LookupFieldOrMethod(t, true, c.pkg, name)
	f, ok := method.(*types.Func)
	return ok && f.Pkg() != nil && strings.HasPrefix(f.Pkg().Path(), layers.Root+"/cmd/")
}

// load returns the packages of pattern, with types from the output of go build.
func load(t *testing.T, pattern string) []*source {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly", pattern)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var wanted []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []*source
	for _, p := range wanted {
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		all = append(all, typesOf(t, fset, from, p.ImportPath, files))
	}
	return all
}

// typesOf type-checks files.
func typesOf(t *testing.T, fset *token.FileSet, from types.Importer, path string, files []*ast.File) *source {
	t.Helper()
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: from}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	return &source{fset, files, pkg, info, from}
}

// findIn returns the findings of the check in a file, which may import the packages of the command.
func findIn(t *testing.T, library []*source, text string) []string {
	t.Helper()
	fset := library[0].fset
	f, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c := checker{source: typesOf(t, fset, library[0].from, layers.Root+"/cmd/internal/p", []*ast.File{f}), used: map[string]bool{}}
	c.file(f)
	return c.found
}
