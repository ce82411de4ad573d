package rows

import (
	"encoding/json"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// began is when the process started: later times in answers are those of the writes that are measured.
var began = time.Now().Truncate(time.Second)

// canonical returns an object, which is anything that encoding/json prints, as sorted JSON text. Times of managed fields
// that the write itself has set become "now", because sides do not write in the same second.
func canonical(object any) (string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	var content map[string]any
	if err := utiljson.Unmarshal(text, &content); err != nil {
		return "", err
	}
	metadata, _ := content["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		entry, _ := entry.(map[string]any)
		text, _ := entry["time"].(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil && !at.Before(began) {
			entry["time"] = "now"
		}
	}
	out, err := json.Marshal(content)
	return string(out), err
}
