package rows

import (
	"fmt"

	"github.com/deed-project/deed/oracle/bench/fixture"
)

// Groups returns all rows.
func Groups() []Group {
	return []Group{
		{"Objects in turn", turnDoc, turnRows()},
		{"Bytes allocated", bytesDoc, bytesRows()},
		{"Update, unstructured", updateDoc, updateRows()},
		{"Apply, unstructured", applyDoc, applyRows()},
		{"JSON text in and out", textDoc, textRows()},
		{"Go structs", structDoc, structRows()},
		{"Objects that are remembered", knownDoc, knownRows()},
		{"Engine", engineDoc, engineRows()},
		{"Field sets", setDoc, setRows()},
		{"Managed fields", entryDoc, entryRows()},
		{"Pathologies", pathologyDoc, pathologyRows()},
		{"Hostile", hostileDoc, hostileRows()},
		{"Growth with the object", sizeDoc, sizeRows()},
		{"Growth with managers", managerDoc, managerRows()},
		{"Concurrency", concurrencyDoc, concurrencyRows()},
		{"Memory", memoryDoc, memoryRows()},
		{"Cold", coldDoc, coldRows()},
	}
}

// What the rows of the groups measure.
const (
	turnDoc = `Writes to 2,000 different objects in turn, each decoded from JSON text just before: what a server with many objects
sees. The number at the end of a row's name counts the field managers. Maps in and out; rows called text read both objects from
JSON text and print the answer. Rows called plain convert each object for itself, by ObjectFromAny. Rows called new do so too,
and make new maps of the whole answer by ToAny, which costs as much as all the rest. Rows called
convert are the floor: they convert both objects of an update and the answer, and do nothing else; the peer copies a map there.`

	bytesDoc = `Bytes that are allocated for each byte of the stored object's text, from JSON text to JSON text, 2,000 different objects
in turn. The peer has maps.`

	updateDoc = `An update of one label by the manager that made the object. Both sides take and return objects as maps: deed's
conversion from maps and back is included, and both may share maps between what they take and return.`

	applyDoc = `An apply of the whole configuration by a manager that applied before: with one label changed, with nothing
changed, with a label that conflicts with another manager's, and of an object that is not there yet. Rows called versions
have managers that wrote another version. Maps in and out.`

	textDoc = `Both objects are read from JSON text, and the answer is printed as JSON text. The peer's decoder is that of
kube-apiserver (sigs.k8s.io/json), its printer encoding/json. In rows called served, deed also does what a server does to
built-in kinds, and the peer's field manager does not: default values, and what Go structs make of an object.`

	structDoc = `Live and new object are Go structs of k8s.io/api; applied configurations are maps, as in kube-apiserver. Rows of
updates put the new managed fields into the struct that was sent, as the peer does. Those called into fill a new struct
with all of the answer, as those of applies do.`

	knownDoc = `Rows of above, called known, whose caller reads all states of the object by one managedfields.Decoder: what is stored
is converted like what the field manager made of it last, and differs from that by the row's change.`

	engineDoc = `Values are built and typed before anything is measured, except for validate, from a map to a typed value, and
validate-built, from a value to a typed value.`

	setDoc = `Parsing and printing fieldsV1, and combining two sets that have a third of an object's fields in common.`

	entryDoc = `All entries of an object. Decoding: the peer throws the sets away once they are read. Encoding to text: the peer does
no more than print its sets; what sorts and names entries cannot be called from outside.`

	pathologyDoc = `Objects that are large in one place, and one with ten updaters and twenty appliers. Maps in and out.`

	hostileDoc = `Inputs that are made to cost much. Growth is the exponent by which deed's time grows from a quarter of the size, 1 being
linear; it may be 1.15. The number at the end of a row's name is the size. No row may be slower than the peer.`

	sizeDoc = `Cost of one field of a custom resource without a schema, for objects of 10 to 100,000 fields. Maps in
and out, and JSON text in those called text.`

	managerDoc = `An update of one label of a pod with more and more managers. Maps in and out.`

	concurrencyDoc = `An update of a pod with three managers by one goroutine and by two at once, on one field manager: the wall
time until all updates are done, divided by their number.`

	memoryDoc = `What an object that was read from JSON text keeps of memory, against maps, Go structs, and its text.`

	coldDoc = `Rows of above with managed fields that were never seen before, so that nothing that is remembered helps.`
)

// story makes a row of one request of the story of o.
func story(name string, bar Bar, o object, n int, f form, pick func(*fixture.Story) request) Row {
	return Row{Name: name, Bar: bar, build: func() (sides, error) {
		s, err := o.tell(managersOf(n))
		if err != nil {
			return sides{}, err
		}
		return pick(s).sides(f)
	}}
}

// servedStory is story for an object that a server has stored, so that what it does beside merging changes nothing.
func servedStory(name string, o object, pick func(*fixture.Story) request) Row {
	return Row{Name: name, build: func() (sides, error) {
		s, err := o.tell(managersOf(2))
		if err != nil {
			return sides{}, err
		}
		if s.Live, err = o.kind.Stored(s.Live); err != nil {
			return sides{}, err
		}
		return pick(s).sides(servedText)
	}}
}

// The writes of a story.
func changed(s *fixture.Story) request     { return applyOf(s, s.Changed) }
func nothing(s *fixture.Story) request     { return applyOf(s, s.Config) }
func conflicting(s *fixture.Story) request { return applyOf(s, s.Conflicting) }
func created(s *fixture.Story) request {
	return request{s.Kind, apply, fixture.Applier, nil, s.Config, false}
}
func createdByUpdate(s *fixture.Story) request {
	return request{s.Kind, update, fixture.Creator, nil, s.Config, false}
}

func turnRows() (rows []Row) {
	for _, o := range []object{pod, deployment} {
		for _, n := range []int{4, 10} {
			add := func(work string, bar Bar, f form, pick func(*fixture.Story) request) {
				rows = append(rows, story(fmt.Sprintf("%s/%s/%d", work, o.name, n), bar, o, n, f, pick))
			}
			add("turn-update", turnUpdateBar, turns, updateOf)
			add("turn-apply", turnApplyBar, turns, changed)
			add("turn-apply-nothing", turnNothingBar, turns, nothing)
			add("turn-text-update", textTurnBar, textTurns, updateOf)
			add("turn-text-apply", textApplyBar, textTurns, changed)
			add("turn-text-apply-nothing", textNothingBar, textTurns, nothing)
		}
		rows = append(rows,
			story("turn-plain-update/"+o.name+"/4", turnUpdateBar, o, 4, plainTurns, updateOf),
			story("turn-plain-apply/"+o.name+"/4", turnApplyBar, o, 4, plainTurns, changed),
			story("turn-plain-apply-nothing/"+o.name+"/4", turnNothingBar, o, 4, plainTurns, nothing),
			story("turn-new-update/"+o.name+"/4", Bar{}, o, 4, newTurns, updateOf),
			story("turn-new-apply/"+o.name+"/4", Bar{}, o, 4, newTurns, changed),
			creation("turn-create-apply/"+o.name, o, turns, created),
			creation("turn-create-update/"+o.name, o, turns, createdByUpdate),
			creation("turn-text-create-apply/"+o.name, o, textTurns, created),
			creation("turn-text-create-update/"+o.name, o, textTurns, createdByUpdate),
			floor("turn-convert/"+o.name+"/4", o, convertMaps),
			floor("turn-text-convert/"+o.name+"/4", o, convertText))
	}
	return inTurn(rows)
}

// inTurn marks rows as those that meet many objects.
func inTurn(rows []Row) []Row {
	for i := range rows {
		rows[i].Turns = true
	}
	return rows
}

// creation makes a row of a write that creates an object.
func creation(name string, o object, f form, pick func(*fixture.Story) request) Row {
	row := story(name, createBar, o, 1, f, pick)
	row.Allocs = createAllocsBar
	return row
}

// floor makes a row of conversions alone.
func floor(name string, o object, convert func(request) sides) Row {
	return Row{Name: name, build: func() (sides, error) {
		s, err := o.tell(managersOf(4))
		if err != nil {
			return sides{}, err
		}
		return convert(updateOf(s)), nil
	}}
}

func bytesRows() (rows []Row) {
	for _, o := range []object{pod, deployment} {
		s, err := o.tell(managersOf(4))
		size := 0
		if err == nil { // else the row says so when it is built
			size = len(s.Live)
		}
		add := func(work string, f form, pick func(*fixture.Story) request) {
			row := story(work+"/"+o.name+"/4", bytesPerByteBar, o, 4, f, pick)
			row.Size = size
			rows = append(rows, row)
		}
		add("bytes-update", textTurns, updateOf)
		add("bytes-apply", textTurns, changed)
	}
	return inTurn(rows)
}

func updateRows() (rows []Row) {
	for _, o := range ordinary {
		for _, n := range []int{1, 3, 10} {
			rows = append(rows, story(fmt.Sprintf("update/%s/%d", o.name, n), updateBar, o, n, maps, updateOf))
		}
	}
	for _, o := range large {
		rows = append(rows, story("update/"+o.name+"/3", largeBarOf(o), o, 3, maps, updateOf))
	}
	return rows
}

// largeBarOf returns the bar of a write to a large object. Custom objects have none: their fields are small.
func largeBarOf(o object) Bar {
	if o.kind.Custom {
		return Bar{}
	}
	return largeBar
}

func applyRows() (rows []Row) {
	for _, o := range ordinary {
		for _, n := range []int{2, 10} {
			rows = append(rows,
				story(fmt.Sprintf("apply/%s/%d", o.name, n), applyBar, o, n, maps, changed),
				story(fmt.Sprintf("apply-nothing/%s/%d", o.name, n), nothingBar, o, n, maps, nothing),
				story(fmt.Sprintf("apply-conflict/%s/%d", o.name, n), Bar{}, o, n, maps, conflicting))
		}
		rows = append(rows, story("apply-create/"+o.name, Bar{}, o, 1, maps, created))
	}
	for _, o := range large {
		rows = append(rows,
			story("apply/"+o.name+"/2", largeBarOf(o), o, 2, maps, changed),
			story("apply-nothing/"+o.name+"/2", Bar{}, o, 2, maps, nothing))
	}
	return append(rows, versionRows()...)
}

// versionRows are writes to an object half of whose managers wrote another version.
func versionRows() (rows []Row) {
	add := func(name string, pick func(*fixture.Story) request) {
		rows = append(rows, Row{Name: name, build: func() (sides, error) {
			s, err := customOf("", 100).tell(fixture.Managers{Updaters: 1, Appliers: 4, OldVersions: true})
			if err != nil {
				return sides{}, err
			}
			return pick(s).sides(maps)
		}})
	}
	add("update-versions/custom-100/5", updateOf)
	add("apply-versions/custom-100/5", changed)
	return rows
}

func textRows() (rows []Row) {
	for _, o := range ordinary {
		rows = append(rows,
			story("text-update/"+o.name+"/3", textBar, o, 3, text, updateOf),
			story("text-apply/"+o.name+"/2", textBar, o, 2, text, changed),
			story("text-apply-nothing/"+o.name+"/2", textBar, o, 2, text, nothing),
			servedStory("served-apply/"+o.name+"/2", o, changed),
			servedStory("served-apply-nothing/"+o.name+"/2", o, nothing))
	}
	for _, o := range large {
		rows = append(rows, story("text-update/"+o.name+"/3", Bar{}, o, 3, text, updateOf))
	}
	return rows
}

func structRows() (rows []Row) {
	for _, o := range ordinary {
		for _, n := range []int{1, 3, 10} {
			rows = append(rows, story(fmt.Sprintf("struct-update/%s/%d", o.name, n), structBar, o, n, sameStruct, updateOf))
		}
		rows = append(rows,
			story("struct-update-into/"+o.name+"/3", Bar{}, o, 3, structs, updateOf),
			story("struct-apply/"+o.name+"/2", Bar{}, o, 2, structs, changed))
	}
	return rows
}

func knownRows() (rows []Row) {
	for _, o := range ordinary {
		rows = append(rows,
			story("known-update/"+o.name+"/3", updateBar, o, 3, knownMaps, updateOf),
			story("known-apply/"+o.name+"/2", applyBar, o, 2, knownMaps, changed),
			story("known-apply-nothing/"+o.name+"/2", nothingBar, o, 2, knownMaps, nothing),
			story("known-struct-update/"+o.name+"/3", structBar, o, 3, knownStruct, updateOf))
	}
	return rows
}

func engineRows() (rows []Row) {
	for _, o := range append(ordinary[:len(ordinary):len(ordinary)], large...) {
		add := func(work string, bar Bar, build func(fixture.Kind, engineInputs) (sides, error)) {
			rows = append(rows, engineRow(work+"/"+o.name, bar, o, build))
		}
		add("compare-equal", compareBar, func(k fixture.Kind, e engineInputs) (sides, error) { return compare(k, e.live, e.live) })
		add("compare", compareBar, func(k fixture.Kind, e engineInputs) (sides, error) { return compare(k, e.live, e.updated) })
		add("merge", mergeBar, func(k fixture.Kind, e engineInputs) (sides, error) { return mergeInto(k, e.live, e.config) })
		add("fields", fieldsBar, func(k fixture.Kind, e engineInputs) (sides, error) { return fieldSet(k, e.live) })
		add("validate", Bar{}, func(k fixture.Kind, e engineInputs) (sides, error) { return validate(k, e.live, false) })
		add("validate-built", Bar{}, func(k fixture.Kind, e engineInputs) (sides, error) { return validate(k, e.live, true) })
	}
	return rows
}

// engineInputs are a story's objects without managed fields.
type engineInputs struct{ live, updated, config []byte }

// engineRow makes a row of such objects. Those that the bars were not made for have none.
func engineRow(name string, bar Bar, o object, build func(fixture.Kind, engineInputs) (sides, error)) Row {
	for _, big := range large {
		if big.name == o.name {
			bar = Bar{}
		}
	}
	return Row{Name: name, Bar: bar, build: func() (sides, error) {
		s, err := o.tell(managersOf(2))
		if err != nil {
			return sides{}, err
		}
		live, err := fixture.Bare(s.Live)
		if err != nil {
			return sides{}, err
		}
		updated, err := fixture.Bare(s.Updated)
		if err != nil {
			return sides{}, err
		}
		return build(s.Kind, engineInputs{live, updated, s.Changed})
	}}
}

func setRows() (rows []Row) {
	for _, o := range []object{pod, node, deployment, definition} {
		add := func(work string, bar Bar, build func(set []byte) (sides, error)) {
			rows = append(rows, engineRow(work+"/"+o.name, bar, o, func(k fixture.Kind, e engineInputs) (sides, error) {
				set, err := setText(k, e.live)
				if err != nil {
					return sides{}, err
				}
				return build(set)
			}))
		}
		add("set-parse", parseBar, func(set []byte) (sides, error) { return parseSet(set), nil })
		add("set-print", printBar, func(set []byte) (sides, error) { return printSet(set), nil })
		for _, op := range operations {
			add("set-"+op.name, algebraBar, func(set []byte) (sides, error) { return combine(op, set) })
		}
	}
	return rows
}

func entryRows() (rows []Row) {
	for _, o := range ordinary {
		rows = append(rows, entryRow("decode", Bar{}, o, decodeEntries), entryRow("encode", Bar{}, o, encodeEntries))
	}
	return rows
}

// entryRow makes a row about the managed fields of a story's object.
func entryRow(work string, bar Bar, o object, build func(live []byte) (sides, error)) Row {
	return Row{Name: work + "/" + o.name + "/10", Bar: bar, build: func() (sides, error) {
		s, err := o.tell(managersOf(10))
		if err != nil {
			return sides{}, err
		}
		return build(s.Live)
	}}
}

func coldRows() (rows []Row) {
	for _, o := range ordinary {
		rows = append(rows,
			story("update-cold/"+o.name+"/3", coldBar, o, 3, cold, updateOf),
			story("apply-cold/"+o.name+"/2", coldBar, o, 2, cold, changed),
			story("text-update-cold/"+o.name+"/3", coldBar, o, 3, textCold, updateOf),
			entryRow("decode-cold", coldDecodeBar, o, decodeUnseen))
	}
	return rows
}

func pathologyRows() (rows []Row) {
	for _, o := range []object{selectors, variables} {
		rows = append(rows,
			story("update/"+o.name+"/3", Bar{}, o, 3, maps, updateOf),
			story("apply/"+o.name+"/2", Bar{}, o, 2, maps, changed),
			story("apply-nothing/"+o.name+"/2", Bar{}, o, 2, maps, nothing))
	}
	crowd := func(name string, pick func(*fixture.Story) request) Row {
		return Row{Name: name + "/pod/10-updaters-20-appliers", build: func() (sides, error) {
			s, err := pod.tell(fixture.Managers{Updaters: 10, Appliers: 20})
			if err != nil {
				return sides{}, err
			}
			return pick(s).sides(maps)
		}}
	}
	return append(rows, crowd("update", updateOf), crowd("apply", changed))
}

func sizeRows() (rows []Row) {
	for fields := 10; fields <= 100_000; fields *= 10 {
		o := customOf("", fields)
		for _, row := range []Row{
			story("size-update/"+thousands(fields), Bar{}, o, 1, maps, updateOf),
			story("size-apply/"+thousands(fields), Bar{}, o, 2, maps, changed),
			story("size-text-update/"+thousands(fields), Bar{}, o, 1, text, updateOf),
			story("size-text-apply/"+thousands(fields), Bar{}, o, 2, text, changed),
		} {
			row.Fields, row.Large = fields, fields > 10_000
			rows = append(rows, row)
		}
	}
	return rows
}

func managerRows() (rows []Row) {
	for _, n := range []int{1, 2, 5, 10, 20, 50} {
		rows = append(rows, story(fmt.Sprintf("managers-update/%d", n), Bar{}, pod, n, maps, updateOf))
	}
	return rows
}

func concurrencyRows() (rows []Row) {
	for _, workers := range []int{1, 2} {
		row := story(fmt.Sprintf("concurrent-update/pod/%d", workers), Bar{}, pod, 3, maps, updateOf)
		row.Workers = workers
		rows = append(rows, row)
	}
	return rows
}

func memoryRows() (rows []Row) {
	for _, o := range []object{pod, node, deployment, endpoints, custom} {
		add := func(against string, build func(request) (sides, error)) {
			rows = append(rows, Row{Name: "memory-" + against + "/" + o.name, Kept: 64, build: func() (sides, error) {
				s, err := o.tell(managersOf(3))
				if err != nil {
					return sides{}, err
				}
				return build(updateOf(s))
			}})
		}
		add("maps", func(r request) (sides, error) { return stored(r, false) })
		if !o.kind.Custom {
			add("structs", func(r request) (sides, error) { return stored(r, true) })
		}
		add("text", textOf)
	}
	return rows
}
