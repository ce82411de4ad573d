package filters

import "time"

// Limits bound the requests in flight and the time of a request. A field that is 0 is as in [DefaultLimits]. Watches have no limits.
type Limits struct {
	Reading, Writing int           // requests in flight; further ones get 429
	Request          time.Duration // of a request, from its first byte to its last
	Write            time.Duration // of what a request does to objects
}

// DefaultLimits are those of kube-apiserver.
var DefaultLimits = Limits{Reading: 400, Writing: 200, Request: time.Minute, Write: 34 * time.Second}

// WithDefaults returns l with the defaults in place of zeros.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ of, standard *int }{{&l.Reading, &d.Reading}, {&l.Writing, &d.Writing}} {
		if *f.of == 0 {
			*f.of = *f.standard
		}
	}
	for _, f := range []struct{ of, standard *time.Duration }{{&l.Request, &d.Request}, {&l.Write, &d.Write}} {
		if *f.of == 0 {
			*f.of = *f.standard
		}
	}
	return l
}
