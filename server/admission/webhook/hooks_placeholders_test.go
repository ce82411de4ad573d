package webhook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// placeholders puts names into texts where each run of a scenario has something else: uids, resource versions, times. Equal things
// get equal names, by first appearance, as in the recordings.
type placeholders struct {
	fixed           *strings.Replacer
	uids, rvs, gens map[string]string
	counted         int // uids
}

func newPlaceholders(h *hookPlayer) *placeholders {
	address := strings.TrimPrefix(h.url, "https://")
	return &placeholders{
		fixed: strings.NewReplacer(h.url, "{{HOOK}}", address, "{{HOOKADDR}}", h.ca, "{{CA}}", h.badCA, "{{BADCA}}"),
		uids:  map[string]string{}, rvs: map[string]string{}, gens: map[string]string{},
	}
}

var (
	anyVersion    = regexp.MustCompile(`"resourceVersion":"(\d{2,})"`)
	quotedVersion = regexp.MustCompile(`(\\"resourceVersion\\":\\")(\d{2,})(\\")`)
	goTime        = regexp.MustCompile(`20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC`)
	anyPort       = regexp.MustCompile(`127\.0\.0\.1:\d+-(>|\\u003e)`)
	anyHint       = regexp.MustCompile(` \(possibly because of [^)]*\)`) // about authorities that are called alike, as here
	generated     = regexp.MustCompile(`(gen-(?:s\d+x\d+|cfg)-)([bcdfghjklmnpqrstvwxz2456789]{5})\b`)
	listVersion   = regexp.MustCompile(`"resourceVersion":"\d+"`)
)

// text names what is in a text.
func (p *placeholders) text(s string) string {
	s = anyPort.ReplaceAllString(s, "127.0.0.1:<port>-${1}")
	s = p.fixed.Replace(anyHint.ReplaceAllString(s, ""))
	s = goTime.ReplaceAllString(servertest.AnyTime.ReplaceAllString(s, "<time>"), "<time>")
	s = servertest.AnyUID.ReplaceAllStringFunc(s, func(uid string) string {
		if p.uids[uid] == "" {
			p.counted++
			p.uids[uid] = fmt.Sprintf("<uid%d>", p.counted)
		}
		return p.uids[uid]
	})
	s = anyVersion.ReplaceAllStringFunc(s, func(match string) string {
		version := anyVersion.FindStringSubmatch(match)[1]
		return `"resourceVersion":"` + numbered(p.rvs, version, "rv") + `"`
	})
	s = quotedVersion.ReplaceAllString(s, "${1}<rv>${3}")
	return generated.ReplaceAllStringFunc(s, func(match string) string {
		parts := generated.FindStringSubmatch(match)
		return parts[1] + numbered(p.gens, parts[2], "gen")
	})
}

// numbered returns the name of a thing among those of its sort.
func numbered(names map[string]string, thing, sort string) string {
	if names[thing] == "" {
		names[thing] = fmt.Sprintf("<%s%d>", sort, len(names)+1)
	}
	return names[thing]
}

func (p *placeholders) texts(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, p.text(s))
	}
	return out
}

// call names what is in the request of a review, whose uid is that of the call.
func (p *placeholders) call(request json.RawMessage) json.RawMessage {
	var asked struct{ UID string }
	if json.Unmarshal(request, &asked) == nil && asked.UID != "" {
		p.uids[asked.UID] = "<call>"
	}
	return p.document(request)
}

// document names what is in a document, or in a text that is none, which becomes one.
func (p *placeholders) document(text []byte) json.RawMessage {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	v, err := value.Parse(text)
	if err != nil {
		quoted, _ := json.Marshal(p.text(string(text)))
		return quoted
	}
	var compact bytes.Buffer
	json.Compact(&compact, text)
	s := compact.String()
	if strings.HasSuffix(v.Get("kind").Str(), "List") && v.Get("items").Kind() == value.KindList {
		version := `"resourceVersion":"` + v.Get("metadata", "resourceVersion").Str() + `"`
		at := strings.LastIndex(s, version) // that of the list; items have older ones
		if listVersion.MatchString(version) && at >= 0 {
			s = s[:at] + `"resourceVersion":"<listrv>"` + s[at+len(version):]
		}
	}
	return json.RawMessage(p.text(s))
}

// comparable returns a document in which the order of managed fields, and of conflicts about one field, does not matter: that one
// depends on the second in which a request fell, and this one is random in kube-apiserver.
func comparable(text json.RawMessage) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		return value.String(string(text))
	}
	if causes := v.Get("details", "causes"); causes.Len() > 0 && causes.Item(0).Get("reason").Str() == "FieldManagerConflict" {
		v = v.With("details", v.Get("details").With("causes", value.List(slices.SortedFunc(causes.Items(), value.Compare)...)))
	}
	return servertest.SortedFields(v)
}

// sortedCalls returns calls with each run of validating ones, which are made at once, in the order of their paths.
func sortedCalls(hooks map[string]recordedHook, calls []madeCall) []madeCall {
	validating := func(c madeCall) bool { return hooks[c.hook].Type == "validating" }
	for i := 0; i < len(calls); {
		j := i + 1
		for j < len(calls) && validating(calls[i]) && validating(calls[j]) {
			j++
		}
		slices.SortStableFunc(calls[i:j], func(a, b madeCall) int { return strings.Compare(a.hook, b.hook) })
		i = j
	}
	return calls
}
