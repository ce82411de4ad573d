package builtin

import (
	"regexp"
	"strings"
	"sync"

	"github.com/deed-project/deed/value"
)

// isLatest reports whether an image's reference has the tag latest, or neither tag nor digest. An invalid reference
// has no tag.
func isLatest(image value.Value) bool {
	m := reference().FindStringSubmatch(image.Str())
	if m == nil {
		return false
	}
	name, tag, digest := m[1], m[2], m[3]
	host, path, ok := strings.Cut(name, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" && strings.ToLower(host) == host {
		host, path = "docker.io", name // a repository on the default host
	}
	length := len(path)
	if (host == "docker.io" || host == "index.docker.io") && !strings.Contains(path, "/") {
		length += len("library/")
	}
	if length > maxRepository || path != strings.ToLower(path) || hexadecimal().MatchString(image.Str()) {
		return false
	}
	return tag == "latest" || tag == "" && digest == ""
}

// maxRepository is the maximum length of the path of a repository, in bytes.
const maxRepository = 255

// reference matches HOST/PATH:TAG@DIGEST. Only the path is required.
var reference = sync.OnceValue(func() *regexp.Regexp {
	const (
		label  = `(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
		host   = `(?:` + label + `(?:\.` + label + `)*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?`
		part   = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
		name   = `(?:` + host + `/)?` + part + `(?:/` + part + `)*`
		tag    = `[\w][\w.-]{0,127}`
		digest = `[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}`
	)
	return regexp.MustCompile(`^(` + name + `)(?::(` + tag + `))?(?:@(` + digest + `))?$`)
})

// hexadecimal matches the ID of an image, which is not a name.
var hexadecimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-f0-9]{64}$`) })
