package kinds

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// What cells show when there is nothing to show.
const (
	none    = "<none>"
	unset   = "<unset>"
	unknown = "<unknown>"
)

// source is what the cells of a row are made of.
type source struct {
	value.Value                 // the object
	now         time.Time       // ages are counted to here
	pod         func() *podLook // what the object tells, if it is a pod
}

// cell returns what an object has in a column.
type cell func(source) value.Value

// The cells that nearly every kind has.
var (
	name    = text("metadata", "name")
	age     = since("metadata", "creationTimestamp")
	created = textOr("0001-01-01T00:00:00Z", "metadata", "creationTimestamp") // a bookmark has none
)

// text shows a string.
func text(path ...string) cell {
	return func(s source) value.Value { return value.String(s.Get(path...).Str()) }
}

// textOr shows a string, and another one if it is absent or empty.
func textOr(otherwise string, path ...string) cell {
	return func(s source) value.Value { return value.String(cmp.Or(s.Get(path...).Str(), otherwise)) }
}

// textIfSet shows a text, also an empty one, or something else if there is none.
func textIfSet(otherwise string, path ...string) cell {
	return func(s source) value.Value {
		if v := s.Get(path...); v.Kind() == value.KindString {
			return v
		}
		return value.String(otherwise)
	}
}

// number shows an integer, 0 if it is absent.
func number(path ...string) cell {
	return func(s source) value.Value { return value.Int(s.Get(path...).Int()) }
}

// count shows how many items or members something has.
func count(path ...string) cell {
	return func(s source) value.Value { return value.Int(int64(s.Get(path...).Len())) }
}

// flag shows a boolean, false if it is absent.
func flag(path ...string) cell {
	return func(s source) value.Value { return value.Bool(s.Get(path...).Bool()) }
}

// shown shows the text that f makes of the object.
func shown(f func(source) string) cell {
	return func(s source) value.Value { return value.String(f(s)) }
}

// since shows how long ago a time was.
func since(path ...string) cell {
	return func(s source) value.Value { return value.String(s.since(s.Get(path...))) }
}

// since returns in short how long ago a time was.
func (s source) since(v value.Value) string {
	at, ok := instant(v)
	if !ok {
		return unknown
	}
	return duration.HumanDuration(s.now.Sub(at))
}

// instant returns a time, and false if v is none.
func instant(v value.Value) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, v.Str())
	return at, err == nil && !at.IsZero()
}

// joined shows a list of strings with commas between them.
func joined(otherwise string, path ...string) cell {
	return shown(func(s source) string { return cmp.Or(strings.Join(walk.Texts(s.Get(path...)), ","), otherwise) })
}

// labelsOf shows a map of labels.
func labelsOf(path ...string) cell {
	return shown(func(s source) string {
		set := labels.Set{}
		for name, v := range s.Get(path...).Members() {
			set[name] = v.Str()
		}
		return labels.FormatLabels(set)
	})
}

// selectorOf shows a label selector.
func selectorOf(path ...string) cell {
	return shown(func(s source) string { return metav1.FormatLabelSelector(walk.LabelSelector(s.Get(path...))) })
}

// withMore joins the first few texts of a list, and says how many there are beside these.
func withMore(list []string, most int, separator string) string {
	if len(list) <= most {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:most], separator) + fmt.Sprintf(" + %d more...", len(list)-most)
}

// hasCondition reports whether an object has a condition that is true.
func hasCondition(object value.Value, typ string) bool {
	for c := range object.Get("status", "conditions").Items() {
		if c.Get("type").Str() == typ {
			return c.Get("status").Str() == string(metav1.ConditionTrue)
		}
	}
	return false
}

// terminating returns what becomes of a status when the object is deleted.
func terminating(path ...string) cell {
	return shown(func(s source) string {
		if !s.Get("metadata", "deletionTimestamp").IsAbsent() {
			return "Terminating"
		}
		return s.Get(path...).Str()
	})
}

// row returns the cells of an object, and the conditions of its row.
func row(cells []cell, object value.Value, now time.Time) (out, conditions []value.Value) {
	out = make([]value.Value, len(cells))
	s := source{Value: object, now: now}
	s.pod = sync.OnceValue(func() *podLook { return look(s.Value) })
	for i, c := range cells {
		out[i] = c(s)
	}
	if object.Get("kind").Str() == "Pod" {
		conditions = podConditions(object)
	}
	return out, conditions
}
