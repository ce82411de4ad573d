package crd

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/structural/rules"
	"github.com/deed-project/deed/value"
)

// From a definition to a resource that is served. A definition has versions, and each version has a schema:
//
//	spec.versions[i]                     catalog.Version
//	  schema.openAPIV3Schema     --->      Form: decoding, pruning, defaults, validation     (form.go)
//	                             --->      Main, Status: field managers, by the types of the schema
//	  subresources.scale         --->      Scale
//	  additionalPrinterColumns   --->      Columns
//	  selectableFields           --->      Fields
//
// Parsing the schemas is the expensive part, and shared by all compilations of the same spec. The rest is new for each compilation, so that
// caches keyed by a version forget it when the definition changes.

// verbs are the verbs of custom resources in discovery order.
var verbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}

// Compile returns the resource that a CustomResourceDefinition of apiextensions.k8s.io/v1 defines, with the accepted names of its status.
// now is the clock of managed fields. by converts between versions for the strategy Webhook, and nil is the strategy None. The error is
// about schemas that a server cannot serve.
//
// The cost grows with the size of the definition.
//
// The names come from the status, as they are what the definition has been granted. A definition that is being deleted creates no objects.
func Compile(crd value.Value, now func() time.Time, by Converter) (*catalog.Resource, error) {
	spec, names := crd.Get("spec"), crd.Get("status", "acceptedNames")
	c := compiler{
		spec: spec, now: now, by: by,
		resource: &catalog.Resource{
			Group: spec.Get("group").Str(), Plural: names.Get("plural").Str(), Singular: names.Get("singular").Str(),
			Kind: names.Get("kind").Str(), ListKind: names.Get("listKind").Str(),
			ShortNames: texts(names.Get("shortNames")), Categories: texts(names.Get("categories")),
			Namespaced: spec.Get("scope").Str() == "Namespaced", Custom: true, Verbs: verbs,
			Terminating: EndingOf(crd).Begun,
		},
	}
	r := c.resource
	r.Prefix = "/registry/" + r.Group + "/" + r.Plural + "/"
	if EndingOf(crd).Shown {
		r.Verbs = []string{"delete", "deletecollection", "get", "list", "watch"}
	}
	if err := c.compile(crd); err != nil {
		return nil, fmt.Errorf("%s.%s: %w", r.Plural, r.Group, err)
	}
	return r, nil
}

// Prepare compiles the CEL rules of a resource that [Compile] made in the background. Without it, the first write that needs them does.
func Prepare(r *catalog.Resource) {
	for _, v := range r.Versions {
		v.Form.(interface{ prepare() }).prepare() // a webhookForm embeds a form
	}
}

// texts returns the strings of a list.
func texts(list value.Value) []string {
	var out []string
	for item := range list.Items() {
		out = append(out, item.Str())
	}
	return out
}

// compiler makes the versions of a resource.
//
// It is used for one definition and then dropped.
type compiler struct {
	spec     value.Value
	now      func() time.Time
	by       Converter // nil for the strategy None
	resource *catalog.Resource

	compiledSchemas
	kind     *custom.Kind
	replicas map[string]fieldpath.Path // by apiVersion
	newest   string                    // the newest version that is served and not deprecated; "" if there is none
}

// compile fills the resource. It looks at all versions first: the stored version, the newest one and the paths of replicas concern each of
// them.
func (c *compiler) compile(crd value.Value) error {
	parsed, err := schemasOf(crd)
	if err != nil {
		return err
	}
	c.compiledSchemas, c.kind, c.replicas = parsed, custom.NewKind(parsed.types, custom.WithStatus(crd)), map[string]fieldpath.Path{}
	for v := range c.spec.Get("versions").Items() {
		name := v.Get("name").Str()
		if v.Get("storage").Bool() {
			c.resource.Stored = name
		}
		// The order of versions is Kubernetes': v2 before v1 before v1beta1.
		if v.Get("served").Bool() && !v.Get("deprecated").Bool() && (c.newest == "" || version.CompareKubeAwareVersionStrings(name, c.newest) > 0) {
			c.newest = name
		}
		var path fieldpath.Path
		if p := v.Get("subresources", "scale", "specReplicasPath").Str(); p != "" {
			path = catalog.ScalePath(p)
		}
		// Managed fields may be in a version that is not served, so each version has an entry.
		c.replicas[c.apiVersion(name)] = path
	}
	for v := range c.spec.Get("versions").Items() {
		served := v.Get("served").Bool()
		if !served && !c.onlySweeps(crd, v) {
			continue
		}
		compiled, err := c.version(v)
		if err != nil {
			return fmt.Errorf("version %s: %w", v.Get("name").Str(), err)
		}
		if !served {
			c.resource.Swept = compiled
			continue
		}
		c.resource.Versions = append(c.resource.Versions, compiled)
		c.resource.Order = append(c.resource.Order, compiled.Name)
	}
	catalog.SortVersions(c.resource.Versions)
	return nil
}

// onlySweeps reports whether a version is only there to delete the objects of a deleted definition: the stored one, if the definition serves
// none.
func (c *compiler) onlySweeps(crd, version value.Value) bool {
	for v := range c.spec.Get("versions").Items() {
		if v.Get("served").Bool() {
			return false
		}
	}
	return !crd.Get("metadata", "deletionTimestamp").IsAbsent() && version.Get("storage").Bool()
}

// compiledSchemas holds the compiled schemas of a definition. It is shared and must not be modified.
type compiledSchemas struct {
	schemas map[string]*structural.Schema // by version
	types   map[string]*schema.Type       // by apiVersion
	rules   map[string]*rules.Rules       // by version, of those that are served or stored
}

// knownTexts caches, for all servers of the process, the compiled schemas by the text of a spec. An entry for the text of a whole definition
// says that the definition is valid, and has no schemas. Decision 14 says what the cache gains.
var knownTexts = cache.ByText[compiledSchemas]{Budget: 16 << 20}

// schemasOf compiles the schemas of a definition. It caches the result by the text of the spec: the same spec comes again with each change of
// the status, and with each other server in the process.
func schemasOf(crd value.Value) (compiledSchemas, error) {
	return knownTexts.Get(crd.Get("spec").AppendJSON(nil), func() (out compiledSchemas, err error) {
		if out.schemas, err = structural.Versions(crd); err != nil {
			return out, err
		}
		if out.types, err = typesOf(crd); err != nil {
			return out, err
		}
		out.rules, err = rulesOf(crd)
		return out, err
	})
}

// rulesOf returns the rules of the versions that may be served: see onlySweeps.
func rulesOf(crd value.Value) (map[string]*rules.Rules, error) {
	out := map[string]*rules.Rules{}
	for v := range crd.Get("spec", "versions").Items() {
		if !v.Get("served").Bool() && !v.Get("storage").Bool() {
			continue
		}
		compiled, err := rules.Compile(v.Get("schema", "openAPIV3Schema"))
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Get("name").Str(), err)
		}
		out[v.Get("name").Str()] = compiled
	}
	return out, nil
}

// typesOf returns the types that crd defines, by apiVersion.
//
// They are for field managers, which follow other parts of a schema than validation does.
func typesOf(crd value.Value) (map[string]*schema.Type, error) {
	definitions, err := openapi.CRD(crd)
	if err != nil {
		return nil, err
	}
	kinds, err := definitions.Catalog()
	if err != nil {
		return nil, err
	}
	types := map[string]*schema.Type{}
	for gvk, t := range kinds.Kinds() {
		types[gvk.APIVersion()] = t
	}
	return types, nil
}

// apiVersion returns the apiVersion of a version of the resource.
func (c *compiler) apiVersion(name string) string { return c.resource.Group + "/" + name }

// version makes the version that v, an entry of spec.versions, describes.
func (c *compiler) version(v value.Value) (*catalog.Version, error) {
	name := v.Get("name").Str()
	out := &catalog.Version{Resource: c.resource, Name: name, Schema: v.Get("schema", "openAPIV3Schema"), Deprecation: c.deprecation(v)}
	out.Columns = catalog.Listed(columns(v.Get("additionalPrinterColumns"))...)
	for field := range v.Get("selectableFields").Items() {
		out.Fields = append(out.Fields, strings.TrimPrefix(field.Get("jsonPath").Str(), "."))
	}
	if s := v.Get("subresources", "scale"); s.Kind() == value.KindObject {
		scale, err := c.scale(s)
		if err != nil {
			return nil, err
		}
		out.Scale = scale
	}
	form := c.form(v, out.Scale)
	out.Form = form
	if c.by != nil {
		// Field managers below get the form without the webhook: they read its schema only.
		out.Form = &webhookForm{form, c.by}
	}
	return out, c.addManagers(out, form)
}

// columns returns the name column and the listed columns of a definition. Without listed columns, the age column follows the name.
//
// The descriptions are those that kube-apiserver shows.
func columns(listed value.Value) []catalog.Column {
	out := []catalog.Column{builtin.NameColumn}
	for column := range listed.Items() {
		path, description := column.Get("jsonPath").Str(), column.Get("description").Str()
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + path
		}
		out = append(out, catalog.PathColumn(catalog.Column{
			Name: column.Get("name").Str(), Type: column.Get("type").Str(), Format: column.Get("format").Str(),
			Description: description, Priority: int32(column.Get("priority").Int()), Path: path,
		}))
	}
	if len(out) == 1 {
		out = append(out, builtin.AgeColumn)
	}
	return out
}

// form makes the form of a version. All forms of a definition share the schemas.
func (c *compiler) form(v value.Value, scale *catalog.Scale) *form {
	name := v.Get("name").Str()
	return &form{
		group: c.resource.Group, kind: c.resource.Kind, version: name, versions: c.kind.Converter(),
		storage: custom.Storage{Group: c.resource.Group, Version: c.resource.Stored, Schemas: c.schemas},
		status:  custom.HasStatus(v), scale: scale, namespaced: c.resource.Namespaced,
		rules: c.rules[name],
	}
}

// addManagers makes the field managers of a version's endpoints.
//
// Without the subresource status, the main endpoint writes the status, too.
func (c *compiler) addManagers(v *catalog.Version, f *form) error {
	main, err := c.manager(c.kind.Config(v.GVK(), "", f.schema()))
	v.Main = catalog.StaticManager(main)
	if err != nil || !f.status {
		return err
	}
	status, err := c.manager(c.kind.Config(v.GVK(), custom.StatusName, f.schema()))
	v.Status = catalog.StaticManager(status)
	return err
}

// manager returns the field manager of an endpoint. It converts by the strategy of the definition.
//
// It converts by the webhook if there is one, because entries of managers may be in another version.
func (c *compiler) manager(config managedfields.Config) (*managedfields.FieldManager, error) {
	if config.Now = c.now; c.by != nil {
		config.Converter = converted{config.Converter, c.by}
	}
	return managedfields.New(config)
}

// deprecation returns the deprecation warning of a version.
//
// The text of the definition wins over the default text, even if it is empty. The default names a newer version if one is served.
func (c *compiler) deprecation(v value.Value) string {
	if !v.Get("deprecated").Bool() {
		return ""
	}
	if text := v.Get("deprecationWarning"); text.Kind() == value.KindString {
		return text.Str()
	}
	name := v.Get("name").Str()
	text := fmt.Sprintf("%s %s is deprecated", c.apiVersion(name), c.resource.Kind)
	if c.newest != "" && version.CompareKubeAwareVersionStrings(c.newest, name) > 0 {
		text += fmt.Sprintf("; use %s %s", c.apiVersion(c.newest), c.resource.Kind)
	}
	return text
}
