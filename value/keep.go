package value

// onPath reports whether step leads from where the parser is along the path to what is kept.
func (p *parser) onPath(step string) bool {
	return p.matched == p.depth-1 && p.matched < len(p.keep) && p.keep[p.matched] == step
}

// step reads the value one step further along the path.
func (p *parser) step() (v Value, err *SyntaxError) {
	if p.matched++; p.matched == len(p.keep) {
		start := p.pos
		if err = p.pass(); err == nil {
			v = fromString(string(p.text[start:p.pos]))
		}
	} else {
		v, err = p.value()
	}
	p.matched--
	return v, err
}

// pass passes the value at pos.
func (p *parser) pass() *SyntaxError {
	switch p.peek() {
	case '{':
		return p.passContainer('}')
	case '[':
		return p.passContainer(']')
	case '"':
		return p.passString()
	}
	_, err := p.value()
	return err
}

func (p *parser) passContainer(closing byte) *SyntaxError {
	if err := p.enter(); err != nil {
		return err
	}
	for more := p.peek() != closing; more; {
		err := p.passName(closing)
		if err == nil {
			err = p.pass()
		}
		if err == nil {
			more, err = p.comma(closing)
		}
		if err != nil {
			return err
		}
	}
	p.pos++
	p.depth--
	return nil
}

// passName passes a member's name and the colon behind it, where the container that ends with closing is an object.
func (p *parser) passName(closing byte) *SyntaxError {
	if closing == ']' {
		return nil
	}
	if p.peek() != '"' {
		return p.unexpected("a name in double quotes")
	}
	if err := p.passString(); err != nil {
		return err
	}
	if p.space(); p.peek() != ':' {
		return p.unexpected("a colon")
	}
	p.pos++
	p.space()
	return nil
}

// passString passes the string at pos, whose escapes stay as they are.
func (p *parser) passString() *SyntaxError {
	for p.pos = plainEnd(p.text, p.pos+1); p.pos < len(p.text); {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return nil
		case c < ' ':
			return p.fail("control character 0x%02x in a string", c)
		case c == '\\':
			if _, err := p.escape(); err != nil {
				return err
			}
		default:
			end, err := p.runes()
			if err != nil {
				return err
			}
			p.pos = end
		}
	}
	return p.fail("unexpected end, want the end of a string")
}
