package report

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The JUnit report in the form of Jenkins, with a suite for each file and a case for each object.
type (
	junitReport struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string           `xml:"name,attr"`
		Tests      int              `xml:"tests,attr"`
		Failures   int              `xml:"failures,attr"`
		Errors     int              `xml:"errors,attr"`
		Skipped    int              `xml:"skipped,attr"`
		Properties *junitProperties `xml:"properties"`
		Cases      []junitCase      `xml:"testcase"`
	}
	junitProperties struct {
		Properties []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Skipped   *junitSkipped `xml:"skipped"`
		Error     *junitFailure `xml:"error"` // why the object could not be checked
		Failure   *junitFailure `xml:"failure"`
		Notes     string        `xml:"system-out,omitempty"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

func (r *results) writeJUnit(out io.Writer) error {
	all := junitReport{Name: r.command}
	var properties *junitProperties
	if r.notChecked != nil {
		properties = &junitProperties{[]junitProperty{{"notChecked", strings.Join(r.notChecked, ", ")}}}
	}
	byFile := map[string]*junitSuite{}
	for _, s := range r.subjects {
		suite := byFile[s.file]
		if suite == nil {
			suite = &junitSuite{Name: s.file, Properties: properties}
			byFile[s.file] = suite
			all.Suites = append(all.Suites, suite)
		}
		c := s.junit()
		suite.Cases = append(suite.Cases, c)
		suite.Tests++
		all.Tests++
		if c.Failure != nil {
			suite.Failures++
			all.Failures++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
		if c.Error != nil {
			suite.Errors++
			all.Errors++
		}
	}
	b := bufio.NewWriter(out)
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "    ")
	err := e.Encode(all)
	b.WriteString("\n")
	return errors.Join(err, b.Flush())
}

// junit returns the case of s. It has at most one failure, with the type of the first finding, and at most one error, because some readers
// do not support several.
func (s *subject) junit() junitCase {
	var failed, noted []result
	for _, x := range s.found {
		if x.mild {
			noted = append(noted, x)
		} else {
			failed = append(failed, x)
		}
	}
	c := junitCase{Name: s.name, ClassName: s.file, Error: junitFailureOf(s.failed), Failure: junitFailureOf(failed), Notes: junitText(noted)}
	if s.seen == exempted {
		c.Skipped = &junitSkipped{"no schema describes the kind"}
	}
	return c
}

// junitFailureOf returns one failure for all results, or nil if there are none.
func junitFailureOf(all []result) *junitFailure {
	if len(all) == 0 {
		return nil
	}
	return &junitFailure{Message: all[0].message, Type: all[0].rule, Text: junitText(all)}
}

// junitText returns a line for each result, or several for a result with a remedy.
func junitText(all []result) string {
	lines := make([]string, len(all))
	for i, x := range all {
		lines[i] = fmt.Sprintf("%v: %s: %s", x.where, x.rule, x.text())
	}
	return strings.Join(lines, "\n")
}
