package wire

import (
	"net/http"
	"strings"
)

// Media types of OpenAPI documents in protobuf: openAPIAsked in requests, openAPIOldest in responses and older requests.
const (
	openAPIAsked  = "application/com.github.proto-openapi.spec.%@v1.0+protobuf"
	openAPIOldest = "application/com.github.proto-openapi.spec.%.v1.0+protobuf"
)

// NegotiateOpenAPI returns the media type of the OpenAPI document that a client wants, and whether it is protobuf. It returns "" if the
// client accepts no supported type. version is v2 or v3.
//
// The type with "@" is no valid media type, so the answer names the older form even if the client asks for the newer one.
func NegotiateOpenAPI(r *http.Request, version string) (media string, protobuf bool) {
	asked, answered := strings.ReplaceAll(openAPIAsked, "%", version), strings.ReplaceAll(openAPIOldest, "%", version)
	for _, c := range openAPIClauses(r.Header.Get("Accept")) {
		switch c {
		case JSON, "application/*", "*/*":
			return JSON, false
		case asked, answered:
			return answered, true
		}
	}
	return "", false
}

// openAPIClauses returns the media types of an Accept header, the preferred type first. The protobuf type contains "@", which is invalid in
// a media type. A header with "@" is therefore split without regard to weights.
func openAPIClauses(header string) []string {
	if strings.Contains(header, "@") {
		var out []string
		for part := range strings.SplitSeq(header, ",") {
			typ, _, _ := strings.Cut(part, ";")
			out = append(out, strings.ToLower(strings.TrimSpace(typ)))
		}
		return out
	}
	var out []string
	for _, c := range clauses(header) {
		out = append(out, c.typ)
	}
	return out
}
