package main

import "testing"

// TestMask masks what differs between two servers, in each of the forms in which answers have it.
func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		`{"nodePort":31851}`:                  `{"#}`,
		`{\"nodePort\": 31851}`:               `{\"#}`,
		`duplicate nodePort: {UDP 31851}`:     `duplicate #}`,
		`map[nodePort:32352 port:443]`:        `map[# port:443]`,
		`{"healthCheckNodePort":30001}`:       `{"healthCheck#}`,
		`{"clusterIP":"10.0.0.17"}`:           `{"clusterIP":"#"}`,
		`{"resourceVersion":"12","port":443}`: `{"#","port":443}`,
	} {
		if got := mask(text); got != want {
			t.Errorf("%s is masked as %s, not as %s", text, got, want)
		}
	}
}
