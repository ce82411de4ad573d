package histories

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Verb is the kind of an Op.
type Verb string

// The verbs.
const (
	Apply  Verb = "apply"
	Force  Verb = "force"  // apply with force
	Update Verb = "update" // replace the object
	Quiet  Verb = "quiet"  // replace the object; on failure keep its managed fields
	Store  Verb = "store"  // store the object unchanged, without the engines
	Delete Verb = "delete" // remove the object
	Drop   Verb = "drop"   // remove the version
)

// Op is one write.
type Op struct {
	Verb
	Endpoint
	Manager string
	After   time.Duration // time that passes before the write
	Body    []byte        // JSON: the configuration, or the whole object in the form of [World.Admit]
}

// Script is a world and the writes to one object in it, which does not exist at the begin.
type Script struct {
	Comment string
	World   string
	CRD     []byte // nil for built-in kinds
	Ops     []Op
}

// Format returns s as a txtar archive: its comment, a file with the world's name, a file with the definition of a custom resource, and a
// file for each write. The name of the latter is the number and kind of the write, and its content is the body.
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

// ParseScript parses the output of Format.
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

// parseOp parses the file name of a write: number, verb, endpoint, quoted manager, and the time before it.
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
