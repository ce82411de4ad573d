package structs

// int returns the signed integer at m, whose plan is p.
func (p *plan) int(m memory) int64 {
	switch p.size {
	case 1:
		return int64(read[int8](m))
	case 2:
		return int64(read[int16](m))
	case 4:
		return int64(read[int32](m))
	}
	return read[int64](m)
}

// uint returns the unsigned integer at m, whose plan is p.
func (p *plan) uint(m memory) uint64 {
	switch p.size {
	case 1:
		return uint64(read[uint8](m))
	case 2:
		return uint64(read[uint16](m))
	case 4:
		return uint64(read[uint32](m))
	}
	return read[uint64](m)
}

// setInt sets the signed integer at m, whose plan is p, to i if i fits.
func (p *plan) setInt(m memory, i int64) (fits bool) {
	if spare := 64 - 8*p.size; i<<spare>>spare != i {
		return false
	}
	switch p.size {
	case 1:
		write(m, int8(i))
	case 2:
		write(m, int16(i))
	case 4:
		write(m, int32(i))
	default:
		write(m, i)
	}
	return true
}

// setUint sets the unsigned integer at m, whose plan is p, to u if u fits.
func (p *plan) setUint(m memory, u uint64) (fits bool) {
	if spare := 64 - 8*p.size; u<<spare>>spare != u {
		return false
	}
	switch p.size {
	case 1:
		write(m, uint8(u))
	case 2:
		write(m, uint16(u))
	case 4:
		write(m, uint32(u))
	default:
		write(m, u)
	}
	return true
}
