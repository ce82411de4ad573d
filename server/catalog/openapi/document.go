package openapi

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Server is what documents say of a server, beside its catalog.
type Server struct {
	Release version.Info
	CBOR    bool // bodies and answers may be CBOR
}

// document is an OpenAPI document under construction, apart from the version of OpenAPI.
type document struct {
	paths         paths
	schemas       components
	custom        bool                   // all resources are defined by CustomResourceDefinitions
	customSchemas map[string]value.Value // by name
}

func newDocument() *document {
	return &document{paths: paths{}, schemas: components{}, customSchemas: map[string]value.Value{}}
}

// collect adds the schemas that the paths refer to.
func (d *document) collect() {
	for _, name := range d.paths.schemas() {
		d.schemas.add(name, d.customSchemas)
	}
	if d.custom {
		d.schemas.add(metaPrefix+"ObjectMeta", nil) // even if no schema refers to it
	}
}

// addForms adds the media types that only some servers have to the operations of built-in kinds.
func (d *document) addForms(of Server) {
	if !of.CBOR {
		return
	}
	for _, operations := range d.paths {
		for i := range operations {
			o := &operations[i]
			o.consumes, o.produces = withCBOR(o.consumes), withCBOR(o.produces)
		}
	}
}

// Paths returns the paths of the v3 documents of a catalog below /openapi/v3, such as apis/apps/v1, in bytewise order.
func Paths(c *catalog.Catalog) []string {
	out := []string{"api", "apis", "version", issuerPath, keysPath}
	for _, g := range c.Groups() {
		if !g.Custom && g.Name != "" {
			out = append(out, "apis/"+g.Name)
		}
		for _, v := range g.Versions {
			out = append(out, strings.Trim(rootOf(g.Name, v), "/"))
		}
	}
	slices.Sort(out)
	return out
}

// Group returns the group that one of [Paths] is about. It is empty for the core group, and for the paths that are about none.
func Group(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] != "apis" || len(parts) == 1 {
		return ""
	}
	return parts[1]
}

// at returns the document at one of [Paths].
func at(c *catalog.Catalog, path string) *document {
	d := newDocument()
	parts := strings.Split(path, "/")
	switch {
	case path == "version":
		d.addInformation("version", "CodeVersion", "get the version information for this server", "io.k8s.apimachinery.pkg.version.Info")
		o := &d.paths["/version/"][0]
		o.consumes, o.produces = []string{jsonType}, []string{jsonType}
	case path == issuerPath:
		d.addIssuer(path, "Configuration", "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'", jsonType)
	case path == keysPath:
		d.addIssuer(path, "Keyset", "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)", keysType)
	case path == "api":
		d.addInformation(path, "APIVersions", "get available API versions", metaPrefix+"APIVersions")
	case path == "apis":
		d.addInformation(path, "APIVersions", "get available API versions", metaPrefix+"APIGroupList")
	case parts[0] == "apis" && len(parts) == 2:
		d.addInformation(path, "APIGroup", "get information of a group", metaPrefix+"APIGroup")
	case parts[0] == "api":
		d.addVersion(c, "", parts[1])
	default:
		d.addVersion(c, parts[1], parts[2])
	}
	d.collect()
	return d
}

// addInformation adds a path that describes a part of the API.
func (d *document) addInformation(path, noun, description, schema string) {
	d.paths.add("/"+path+"/", operation{
		method: "get", verb: "get", noun: noun, description: description,
		consumes: objectTypes, produces: objectTypes, answers: []answer{ok(schema)},
	})
}

// Paths of the documents by which others verify tokens of service accounts.
const (
	issuerPath = ".well-known/openid-configuration"
	keysPath   = "openid/v1/jwks"
)

// addIssuer adds the path of a document about the issuer of tokens.
func (d *document) addIssuer(path, noun, description, media string) {
	d.paths.add("/"+path+"/", operation{
		method: "get", verb: "get", noun: "ServiceAccountIssuerOpenID" + noun, description: description,
		produces: []string{media}, answers: []answer{ok("")},
	})
}

// addVersion adds a group version: its resources, and the path that lists them.
func (d *document) addVersion(c *catalog.Catalog, group, version string) {
	d.custom = true
	for v := range c.In(group, version) {
		if v.Custom {
			d.paths.addCustom(v)
			maps.Copy(d.customSchemas, customSchemas(v, false))
			continue
		}
		d.custom = false
		d.paths.addBuiltIn(v)
	}
	if d.custom {
		return
	}
	d.addInformation(strings.Trim(rootOf(group, version), "/"), "APIResources", "get available resources", metaPrefix+"APIResourceList")
}

// members returns an object, absent if it has no members.
func members(of map[string]value.Value) value.Value {
	if len(of) == 0 {
		return value.Value{}
	}
	var out []value.Member
	for name, v := range of {
		out = append(out, value.Member{Name: name, Value: v})
	}
	return value.Object(out...)
}
