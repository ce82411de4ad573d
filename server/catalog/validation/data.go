package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// maxData is how many bytes a ConfigMap or a Secret may hold.
const maxData = 1 << 20

// DataTooLong refuses a ConfigMap or a Secret, of the core group, that holds too many bytes. There is nothing wrong with other kinds.
func DataTooLong(kind string, object value.Value) field.ErrorList {
	n, path := 0, field.NewPath("data")
	switch kind {
	case "ConfigMap":
		n, path = decodedLen(object.Get("binaryData")), field.NewPath("") // the whole object
		for _, text := range object.Get("data").Members() {
			n += len(text.Str())
		}
	case "Secret":
		n = decodedLen(object.Get("data"))
	}
	if n <= maxData {
		return nil
	}
	return field.ErrorList{field.TooLong(path, "", maxData)}
}

// decodedLen returns how many bytes the members of an object have together, which are in base64.
func decodedLen(of value.Value) (n int) {
	for _, text := range of.Members() {
		n += len(strings.TrimRight(text.Str(), "=")) * 3 / 4
	}
	return n
}
