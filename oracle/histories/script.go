package histories

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Verb is what an Op does.
type Verb string

// The verbs.
const (
	Apply  Verb = "apply"
	Force  Verb = "force"  // apply, whatever it conflicts with
	Update Verb = "update" // replace the object
	Quiet  Verb = "quiet"  // replace the object, keeping its managed fields as they are if that fails
	Store  Verb = "store"  // put the object into the store as it is, past both engines
	Delete Verb = "delete" // there is no object any more
	Drop   Verb = "drop"   // there is no such version any more
)

// Op is one write.
type Op struct {
	Verb
	Endpoint
	Manager string
	After   time.Duration // that passes before
	Body    []byte        // JSON: the configuration, or the whole object as [World.Admit] returns it
}

// Script is a world and the writes to one object in it, which does not exist in the beginning.
type Script struct {
	Comment string
	World   string
	CRD     []byte // nil for built-in kinds
	Ops     []Op
}

// Format returns s as a txtar archive: its comment, a file with the world's name, a file with the definition of a custom
// resource, and a file for each write, named by its number and what it is, with the body in it.
func (s Script) Format() []byte {
	a := &txtar.Archive{Comment: []byte(s.Comment)}
	add := func(name string, text []byte) { a.Files = append(a.Files, txtar.File{Name: name, Data: line(text)}) }
	add("world", []byte(s.World))
	if s.CRD != nil {
		add("crd.json", s.CRD)
	}
	for i, op := range s.Ops {
		add(fmt.Sprintf("%d %s %s/%s %s after %v", i+1, op.Verb, op.APIVersion, op.Subresource, strconv.Quote(op.Manager), op.After), op.Body)
	}
	return txtar.Format(a)
}

func line(text []byte) []byte { return append([]byte(strings.TrimSpace(string(text))), '\n') }

// ParseScript reads what Format wrote.
func ParseScript(text []byte) (Script, error) {
	a := txtar.Parse(text)
	s := Script{Comment: string(a.Comment)}
	for _, f := range a.Files {
		data := []byte(strings.TrimSpace(string(f.Data)))
		switch f.Name {
		case "world":
			s.World = string(data)
		case "crd.json":
			s.CRD = data
		default:
			op, err := parseOp(f.Name)
			if err != nil {
				return s, fmt.Errorf("%q: %w", f.Name, err)
			}
			op.Body = data
			s.Ops = append(s.Ops, op)
		}
	}
	return s, nil
}

// parseOp reads the name of a write's file: number, verb, endpoint, quoted manager, and the time before it.
func parseOp(name string) (op Op, err error) {
	head, rest, ok := strings.Cut(name, ` "`)
	fields := strings.Fields(head)
	end := strings.LastIndex(rest, `" after `)
	if !ok || len(fields) != 3 || end < 0 {
		return op, fmt.Errorf("expected: NUMBER VERB APIVERSION/SUBRESOURCE \"MANAGER\" after DURATION")
	}
	slash := strings.LastIndexByte(fields[2], '/')
	if slash < 0 {
		return op, fmt.Errorf("an endpoint has a slash before its subresource, even if that is empty")
	}
	op.Verb, op.APIVersion, op.Subresource = Verb(fields[1]), fields[2][:slash], fields[2][slash+1:]
	if op.Manager, err = strconv.Unquote(`"` + rest[:end] + `"`); err != nil {
		return op, err
	}
	op.After, err = time.ParseDuration(rest[end+len(`" after `):])
	return op, err
}
