package builtin

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

var signingRequest = schema.GVK{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"}

// withCreator returns a new request for a certificate that names its creator, whatever the client wrote there.
//
// Fields of the creator that are empty are removed, so that a client cannot claim them.
func withCreator(request value.Value, by catalog.Creator) value.Value {
	text := func(s string) value.Value {
		if s == "" {
			return value.Value{}
		}
		return value.String(s)
	}
	spec := request.Get("spec").With("username", text(by.Name)).With("uid", text(by.UID)).With("groups", textList(by.Groups))
	var extra []value.Member
	for _, name := range slices.Sorted(maps.Keys(by.Extra)) {
		extra = append(extra, value.Member{Name: name, Value: textList(by.Extra[name])})
	}
	if spec = spec.With("extra", value.Value{}); len(extra) > 0 {
		spec = spec.With("extra", value.Object(extra...))
	}
	return request.With("spec", spec)
}

// textList returns a list of texts; absent for none.
func textList(texts []string) value.Value {
	var items []value.Value
	for _, s := range texts {
		items = append(items, value.String(s))
	}
	if len(items) == 0 {
		return value.Value{}
	}
	return value.List(items...)
}
