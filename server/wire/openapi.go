package wire

import (
	"net/http"
	"strings"
)

// OpenAPI documents in protocol buffers: what clients ask for, and what they are told that they get.
const (
	openAPIAsked  = "application/com.github.proto-openapi.spec.%@v1.0+protobuf"
	openAPIOldest = "application/com.github.proto-openapi.spec.%.v1.0+protobuf"
)

// NegotiateOpenAPI returns the media type of an OpenAPI document that a client wants, and whether it is one of protocol buffers.
// It returns "" if the client takes none that there is. version is v2 or v3.
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

// openAPIClauses returns the media types of an Accept header, the preferred one first. That of protocol buffers has a character
// that no media type may have, so that weights are looked for only behind the others.
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
