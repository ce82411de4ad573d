package recording

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Exists reports whether the object was stored before the request.
func (e Exchange) Exists() bool { return e.Live.Kind() == value.KindObject }

// Sent returns the sent body as text; some bodies are not JSON.
func (e Exchange) Sent() []byte {
	if e.Body.Kind() == value.KindString {
		return []byte(e.Body.Str())
	}
	return e.Body.AppendJSON(nil)
}

// Keeps reports whether the request writes JSON that a server stores as text. Such text counts as changed even if only its spaces
// differ.
func (e Exchange) Keeps() bool {
	return (e.Op == "update" || e.Op == "merge") && strings.Contains(e.Body.String(), `"opaque"`)
}

// Time returns the latest time in the answer: the time at which the server answered.
func (e Exchange) Time() time.Time {
	var last time.Time
	for part := range strings.SplitSeq(e.Response.String(), `"`) {
		if t, err := time.Parse(time.RFC3339, part); err == nil && t.After(last) {
			last = t
		}
	}
	return last
}

// Owners returns the managed fields of object without times, in order, as text.
func Owners(object value.Value) string {
	var all []string
	for entry := range object.Get("metadata", "managedFields").Items() {
		all = append(all, entry.With("time", value.Value{}).String())
	}
	slices.Sort(all)
	return "[" + strings.Join(all, ",") + "]"
}

// SortedLines returns the lines of a message in sorted order, because the lines of a conflict have no fixed order.
func SortedLines(message string) string {
	all := strings.Split(message, "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// ServerFiles returns the recordings of a kube-apiserver about built-in kinds: the files in kept, a directory of this repository,
// and in all, an optional directory beside it. The environment variable DEED_SERVER_RECORDINGS names a file that replaces all of
// them. A short test uses kept only.
func ServerFiles(kept, all string, short bool) (files []string, err error) {
	if file := os.Getenv("DEED_SERVER_RECORDINGS"); file != "" {
		return []string{file}, nil
	}
	dirs := []string{kept, all}
	if short {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}
