package kinds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Kind is a built-in kind in one version. The embedded kind of package schema/builtin knows how objects are read, defaulted, converted and
// stored. Traits are what a server does beyond that.
type Kind struct {
	*builtin.Kind
	*Traits

	compiler  func(composed bool) walk.Compiler // see WithExpressions; may be nil
	namespace walk.Namespace                    // see WithNamespace; may be nil

	unprivileged bool // see WithoutPrivileges
}

// AnswersDeleted reports whether a delete is answered with the deleted object instead of a Status.
func (k Kind) AnswersDeleted() bool { return k.answersDeleted || k.isLenient() }

// Conditional reports whether an update must have a resource version.
func (k Kind) Conditional() bool { return k.conditional && !k.isLenient() }

func (k Kind) isLenient() bool { return slices.Contains(k.lenient, k.GVK.Version) }

// WithoutPrivileges returns the kind for a cluster that refuses privileged containers.
func (k Kind) WithoutPrivileges() Kind {
	k.unprivileged = true
	return k
}

// WithNamespace returns the kind with a function that returns stored namespaces. A kind without one does not validate what depends on them:
// whether a claim may have admin access to devices.
func (k Kind) WithNamespace(namespace walk.Namespace) Kind {
	k.namespace = namespace
	return k
}

// Traits are the row of a kind in the table. The zero value of a field is what most kinds do.
//
// A row is immutable once the table is made, and shared by all versions of the kind. Functions in it are called by many goroutines at once.
type Traits struct {
	Group, Name string // of the kind, in all its versions

	// What the server refuses.

	name            apivalidation.ValidateNameFunc                          // the rule for names; nil for DNS subdomains
	nameOf          func(object value.Value) apivalidation.ValidateNameFunc // the rule for the name of an object, in place of name
	namedOnce       bool                                                    // an update does not validate the prefix of generated names
	namedAlways     bool                                                    // a write of the status validates the prefix of generated names, too
	finalizersFirst bool                                                    // an update validates finalizers before the prefix of generated names
	namedAgain      bool                                                    // an update validates the name, too
	metadataLast    bool                                                    // the metadata of a new object is validated only after the rest, see api.ValidateNew
	freeStatus      bool                                                    // a write of the status validates no finalizers
	finalizersOnce  bool                                                    // an update validates no finalizers
	namedLast       bool                                                    // the name is validated after the fields, and no prefix of it is
	validate        check                                                   // the kind's own fields
	early           check                                                   // what ends a write before anything is allocated, and comes alone
	asHub           bool                                                    // validate gets objects of all versions in the hub version
	taggedPath      func(version, path string) string                       // with asHub: the path in a version of what breaks a tag; nil if it is the hub's
	parts           map[string]check                                        // what validate is for other subresources than scale
	bySchema        bool                                                    // texts that the schema requires or enumerates are validated, too
	mayBeEmpty      []string                                                // fields that the schema requires and the server takes when they are empty
	fieldsFirst     bool                                                    // the metadata of a new object is validated only if its fields are valid
	anyFinalizer    bool                                                    // finalizers need not be known or qualified by a domain
	conditional     bool                                                    // an update must have a resource version

	// CheckConversion returns why an object that can be decoded has no internal form; nil for kinds whose objects all have one.
	CheckConversion func(object value.Value) error

	// What the server warns of.

	warn       func(w *walk.Warnings, object walk.Place, live value.Value) // after the warnings of pods
	warnStatus func(w *walk.Warnings, object walk.Place, live value.Value) // of a write of the status
	pods       string                                                      // the path to the spec of the pods that an object is or makes; empty if it has none
	named      string                                                      // what the name of an object is used for, if it should be a DNS label
	WarnOfNew  func(object value.Value) []string                           // see catalog.Version
	podsBefore bool                                                        // an update warns of the pods of the live object

	// What the server adds.

	complete func(object, live, uid value.Value) value.Value // fills in what depends on the UID, or on addresses
	admit    func(object, live value.Value) value.Value      // what admission plugins of every server do
	adds     []Allocated

	// What the server shows.

	cells            func() []cell
	empty            func(object value.Value) value.Value // completes an object that has nothing; see Empty
	shownAs          schema.GVK                           // the version whose cells Tables show, if it is one version for all
	Default          func(items []value.Value) string     // see catalog.Version
	Fields           []string                             // paths that field selectors may name
	Derived          map[string]func(value.Value) string  // further labels of field selectors, whose text differs from the value at a path
	NoStatusTable    bool                                 // see catalog.Version
	NoNamespaceField bool                                 // see catalog.Version
	FieldRefusal     string                               // see catalog.Version; VERSION stands for the version

	// What the server stores and deletes: see catalog.Resource.

	Prefix             string // the last part of the key prefix; the resource if it is empty
	CreateOnUpdate     bool
	CreateOnApply      bool
	answersDeleted     bool     // see AnswersDeleted
	lenient            []string // versions that answer with the deleted object, and whose updates need no resource version
	HasTTL             bool
	PrefixAsName       bool
	Orphans            bool
	OrphanWarning      string
	NoDependents       bool
	PreconditionFailed string
	Kept               func(name string) (why string)
	Grace              func(object value.Value, asked *int64) int64
}

// check validates object, which replaces live. An absent live means that the object is new.
//
// It adds errors in kube-apiserver's order. It stops early only where kube-apiserver does, since each error is part of the answer.
type check func(r *walk.Report, object walk.Place, live value.Value)

// byKind is the table by group and name.
var byKind = sync.OnceValue(func() map[[2]string]*Traits {
	out := map[[2]string]*Traits{}
	for _, t := range table() {
		// Cells are made once, for the first Table.
		if t.cells != nil {
			t.cells = sync.OnceValue(t.cells)
		}
		out[[2]string{t.Group, t.Name}] = &t
	}
	return out
})

// Of returns a kind with its row of the table. A kind that is not in the table has the zero Traits.
func Of(kind *builtin.Kind) Kind {
	t, known := byKind()[[2]string{kind.GVK.Group, kind.GVK.Kind}]
	if !known {
		t = &Traits{Group: kind.GVK.Group, Name: kind.GVK.Kind}
	}
	return Kind{Kind: kind, Traits: t}
}

// Empty returns what kube-apiserver shows of an object that has nothing, without apiVersion and kind. object is the empty Go struct of the
// kind. Some fields are pointers in it and numbers in the internal type, whose zero is shown.
func (k Kind) Empty(object value.Value) value.Value {
	if k.empty == nil {
		return object
	}
	return k.empty(object)
}

// Refused returns everything that a server refuses of object, which replaces live through a subresource, "" for the object itself. An
// absent live means that the object is new. Both have their defaults. If ctx ends early, the result is meaningless. The same holds for the
// other validations.
//
// The order differs: a new object with errors of its kind is not checked for its other metadata, and an update reports both.
func (k Kind) Refused(ctx context.Context, object, live value.Value, subresource string) field.ErrorList {
	if subresource == "" {
		if errs := k.ValidateEarly(ctx, object, live); len(errs) > 0 {
			return errs
		}
	}
	if !live.IsAbsent() {
		return append(api.ValidateReplaced(object, live, k.Namespaced), k.ValidateUpdate(ctx, object, live, subresource)...)
	}
	if errs := k.ValidateCreate(ctx, object); len(errs) > 0 {
		return errs
	}
	return api.ValidateNew(object, k.Namespaced)
}

// ValidateCreate returns the errors of a new object: in its name, its other metadata, and its own fields.
//
// The name is checked before the fields, as kube-apiserver validates ObjectMeta first. fieldsFirst turns that around.
func (k Kind) ValidateCreate(ctx context.Context, object value.Value) field.ErrorList {
	own := k.own(ctx, object, value.Value{}, "")
	if k.metadataLast || k.fieldsFirst && len(own.Errs) > 0 {
		return append(own.First, own.Errs...)
	}
	return slices.Concat(own.First, api.ValidateNamed(object, k.Namespaced, k.nameRule(object)), k.finalizers(object), own.Errs)
}

// ValidateEarly returns the errors that end a write of object before the server allocates anything for it. It comes before the other
// validations, which then are not made.
func (k Kind) ValidateEarly(ctx context.Context, object, live value.Value) field.ErrorList {
	if k.early == nil {
		return nil
	}
	r, w := walk.Report{Group: k.Group, Kind: k.Name}, walk.New(ctx)
	defer w.Free()
	k.early(&r, w.Root(object), live)
	return r.Errs
}

// serviceKind are objects whose names may begin with a digit since a minor release, relaxedNames.
const (
	serviceKind  = "Service"
	relaxedNames = 36
)

// reservedNames is the minor release since which names of admission policies and webhook configurations in files are reserved.
const reservedNames = 37

// nameRule returns the rule for the name of object.
func (k Kind) nameRule(object value.Value) apivalidation.ValidateNameFunc {
	switch {
	case k.namedLast && k.Minor() < walk.TaggedSince:
		return namedAtOnce
	case k.namedLast:
		return anyName
	case k.nameOf != nil:
		return k.nameOf(object)
	case k.Traits.name == nil:
		return apivalidation.NameIsDNSSubdomain
	case k.Traits.Name == serviceKind && k.Minor() < relaxedNames:
		return apivalidation.NameIsDNS1035Label
	case k.Group == admissionGroup && k.Minor() < reservedNames:
		return apivalidation.NameIsDNSSubdomain
	}
	return k.Traits.name
}

// namedAtOnce is the rule for names of kinds whose names tags of types refuse since walk.TaggedSince. It takes any prefix.
func namedAtOnce(name string, prefix bool) []string {
	if prefix {
		return nil
	}
	return content.IsDNS1123Subdomain(name)
}

// prefix returns the errors in the prefix of generated names of object.
func (k Kind) prefix(object value.Value) field.ErrorList {
	text := object.Get("metadata", "generateName").Str()
	if text == "" || k.namedOnce {
		return nil
	}
	var errs field.ErrorList
	for _, detail := range k.nameRule(object)(text, true) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "generateName"), text, detail))
	}
	return errs
}

// ValidateUpdate returns the errors in the own fields of object, including changes of immutable fields. [api.ValidateReplaced] returns the
// errors in its metadata.
func (k Kind) ValidateUpdate(ctx context.Context, object, live value.Value, subresource string) field.ErrorList {
	var errs field.ErrorList
	if subresource == "" && k.namedAgain {
		name := object.Get("metadata", "name").Str()
		for _, detail := range k.nameRule(object)(name, false) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, detail))
		}
	}
	if !k.finalizersOnce && (subresource != "status" || !k.freeStatus) {
		errs = append(errs, k.finalizers(object)...)
	}
	var prefix field.ErrorList
	if subresource == "" || subresource == "resize" || subresource == "ephemeralcontainers" || k.namedAlways {
		prefix = k.prefix(object)
	}
	own := k.own(ctx, object, live, subresource)
	if k.finalizersFirst {
		return slices.Concat(own.First, errs, own.Errs[:own.Named], prefix, own.Errs[own.Named:])
	}
	return slices.Concat(own.First, prefix, errs, own.Errs)
}

// finalizers returns the errors in the finalizers of object.
func (k Kind) finalizers(object value.Value) field.ErrorList {
	if k.anyFinalizer {
		return nil
	}
	return api.ValidateFinalizers(object)
}

// own returns what is wrong with the own fields of object, with all but First in Errs.
//
// Errors that kube-apiserver derives from tags come last, whatever field they are about.
func (k Kind) own(ctx context.Context, object, live value.Value, subresource string) walk.Report {
	validate, whole := k.parts[subresource], subresource == "" || subresource == "scale"
	if whole {
		validate = k.validate
	}
	r := walk.Report{
		Group: k.Group, Kind: k.Name, Pods: k.pods, Compiler: k.compiler, Namespace: k.namespace, Minor: k.Minor(), Live: live,
		Unprivileged: k.unprivileged,
	}
	if name := object.Get("metadata", "name"); k.namedLast && !r.Before(walk.TaggedSince) && live.IsAbsent() && name.Str() != "" {
		for _, detail := range content.IsDNS1123Subdomain(name.Str()) {
			r.Last = append(r.Last, field.Invalid(field.NewPath("metadata", "name"), name.Str(), detail))
		}
	}
	if validate != nil {
		w := walk.New(ctx)
		defer w.Free()
		validate(&r, w.Root(k.inHub(object)), k.inHub(live))
	}
	if k.taggedPath != nil {
		for _, e := range r.Last {
			e.Field = k.taggedPath(k.GVK.Version, e.Field)
		}
	}
	if k.bySchema && whole {
		k.declared(&r, object)
	}
	r.Errs = append(r.Errs, r.Last...)
	return r
}

// inHub returns an object in the version that servers validate. An object that cannot be converted stays as it is.
//
// kube-apiserver validates the internal version, whose fields are those of the hub. Paths of errors are the hub's, too.
func (k Kind) inHub(object value.Value) value.Value {
	if !k.asHub || object.IsAbsent() || k.Hub == k.GVK.APIVersion() {
		return object
	}
	hub, known := builtin.Lookup(schema.ParseGVK(k.Hub, k.GVK.Kind))
	if !known {
		return object
	}
	converted, err := k.ConvertWhole(object, hub)
	if err != nil {
		return object
	}
	return converted
}

// declared adds the errors that only the schema of the kind declares: required texts that are empty, and texts that are not among those
// that a field may have. It skips fields that have another error.
func (k Kind) declared(r *walk.Report, object value.Value) {
	before := r.Errs
	// The metadata has rules of its own, and servers hardly validate a status.
	for _, f := range k.Form().Findings(object.With("status", value.Value{}).With("metadata", value.Value{})) {
		path := walk.FieldOf(f.Path)
		at := path.String()
		// A field with an error of its own is not reported as missing, too.
		isIt := func(e *field.Error) bool { return e.Field == at }
		known := slices.ContainsFunc(before, isIt) || slices.ContainsFunc(r.Last, isIt)
		switch {
		case known || slices.Contains(k.mayBeEmpty, indexes().ReplaceAllString(at, "[]")):
		case f.Values == nil:
			r.Add(field.Required(path, ""))
		default:
			r.Add(field.NotSupported(path, walk.Enumeration(f.Text), f.Values))
		}
	}
}

// indexes matches the indexes in the path of an error.
var indexes = walk.LazyRegexp(`\[\d+\]`)

// Complete returns object, which replaces live, with the fields that only the server knows, as far as validation needs them: generated
// selectors, names and address families. uid is the UID of a new object.
func (k Kind) Complete(object, live, uid value.Value) value.Value {
	if k.complete == nil {
		return object
	}
	return k.complete(object, live, uid)
}

// Admit returns object, which replaces live, as the admission plugins that every server runs leave it. The server runs them itself.
func (k Kind) Admit(object, live value.Value) value.Value {
	if k.admit == nil {
		return object
	}
	return k.admit(object, live)
}

// Row returns what a Table shows of an object: its cells, and the conditions of its row. now is the time to which ages are counted.
func (k Kind) Row(object value.Value, now time.Time) (cells, conditions []value.Value) {
	if k.cells == nil {
		return nil, nil
	}
	if shown, err := k.convert(object); err == nil { // otherwise it shows what both versions have
		object = shown
	}
	return row(k.cells(), object, now)
}

// HasRow reports whether the cells of a Table are known.
func (k Kind) HasRow() bool { return k.cells != nil }

// ShownAs returns the version of the same group in which Tables show objects of k, if it is another one; empty otherwise.
func (k Kind) ShownAs() string {
	if k.shownAs.Group != k.GVK.Group || k.shownAs.Version == k.GVK.Version {
		return ""
	}
	return k.shownAs.Version
}

// convert returns an object in the version that Tables show.
func (k Kind) convert(object value.Value) (value.Value, error) {
	if k.shownAs == (schema.GVK{}) || k.shownAs == k.GVK {
		return object, nil
	}
	as, known := builtin.Lookup(k.shownAs)
	if !known {
		return object, fmt.Errorf("%v is not known", k.shownAs)
	}
	return k.Convert(object, as)
}

// Allocated is a part of objects that only a server knows: the server allocates it, or an admission plugin of the cluster sets it.
type Allocated struct {
	Paths  []string // names of members with spaces between them; * is each item of a list, and a=b the items whose member a is b
	Reason string
	// Optional is for what not every cluster sets.
	Optional bool

	when func(object value.Value) bool // nil for always
}

// Everywhere is what the server adds to the objects of every kind.
var Everywhere = Allocated{
	Paths: []string{"metadata uid", "metadata creationTimestamp", "metadata resourceVersion"}, Reason: "made by the server",
}

// Allocates returns what a server adds to object, which replaces live, or to a new object if live is absent: [Everywhere] is left out. What
// live has was added when it was created, unless object needs it for the first time. It takes time in proportion to object.
//
// For example, a Pod without tolerations has two of them missing: the server will add both.
func (k Kind) Allocates(live, object value.Value) []Allocated {
	var out []Allocated
	for _, a := range k.adds {
		if a.when != nil && !a.when(object) || !live.IsAbsent() && (a.when == nil || a.when(live)) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(a.Paths), func(path string) bool { return leads(object, strings.Fields(path)) })
		if len(missing) > 0 {
			a.Paths = missing
			out = append(out, a)
		}
	}
	return out
}

// leads reports whether there is something at path in v, which is written as in [Allocated].
//
// "spec containers * volumeMounts" leads somewhere if every container has volume mounts. "metadata finalizers a" leads to the item a.
func leads(v value.Value, path []string) bool {
	switch {
	case len(path) == 0:
		return walk.IsSet(v)
	case v.Kind() != value.KindList:
		return leads(v.Get(path[0]), path[1:])
	case path[0] == "*":
		for item := range v.Items() {
			if !leads(item, path[1:]) {
				return false
			}
		}
		return true
	}
	name, want, _ := strings.Cut(path[0], "=")
	for item := range v.Items() {
		if item.Str() == path[0] || item.Kind() == value.KindObject && item.Get(name).Str() == want {
			return true
		}
	}
	return false
}

// WithExpressions returns the kind with a function that makes a Compiler for an object. composed tells that the object has variables. Without
// one, validation finds no errors in expressions that are there: programs that start fast do without compilers.
func (k Kind) WithExpressions(compiler func(composed bool) walk.Compiler) Kind {
	k.compiler = compiler
	return k
}
