package write

import "crypto/rand"

const (
	maxPrefix = 58 // bytes of metadata.generateName that a generated name keeps
	suffixLen = 5
	// letters of generated names: none that make words or are easily taken for another. There are 27 of them.
	letters = "bcdfghjklmnpqrstvwxz2456789"
)

// generateName returns a name that begins with prefix and ends at random.
func generateName(prefix string) string {
	suffix := make([]byte, suffixLen)
	rand.Read(suffix) // never fails, see package crypto/rand
	for i, b := range suffix {
		suffix[i] = letters[int(b)%len(letters)]
	}
	return prefix[:min(len(prefix), maxPrefix)] + string(suffix)
}
