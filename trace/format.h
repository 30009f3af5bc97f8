/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The on-disk format, version 2. docs/FORMAT.md is normative; this header states it in C.
 *
 * A run is a directory of files, one per thread of each process image. A file is a sequence of
 * zstd frames and skippable frames, valid for `zstd -t` at every instant of its life:
 *
 *	HEADER  ( BLOCK zstd-frame | FREE )*  WINDOW
 *
 * All numbers are little-endian. HEADER, BLOCK, FREE and WINDOW are skippable frames and start at
 * offsets that are multiples of 8, so that one aligned 8-byte store can replace a frame's head.
 * A clean end removes FREE and WINDOW. Files may be concatenated in any order.
 *
 * libc only; no allocation. Both sides include this file, and neither includes the other.
 */
#ifndef STAGEPROF_TRACE_FORMAT_H
#define STAGEPROF_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define SP_FORMAT_VERSION 2

/* Skippable magics: RFC 8878 section 3.1.2, 0x184D2A50 to 0x184D2A5F. */
#define SP_FRAME_HEADER 0x184D2A50u
#define SP_FRAME_BLOCK 0x184D2A51u
#define SP_FRAME_FREE 0x184D2A52u
#define SP_FRAME_WINDOW 0x184D2A53u
#define SP_FRAME_RUN 0x184D2A54u /* the only frame of the run's marker file */
#define SP_FRAME_CALL 0x184D2A55u

#define SP_TAG_HEADER "STAGEPRF"
#define SP_TAG_BLOCK "SPBK"
#define SP_TAG_WINDOW "SPWN"
#define SP_TAG_RUN "SPRUNRUN"
#define SP_TAG_CALL "SPCALLED"

#define SP_HEADER_FRAME_BYTES 512
#define SP_BLOCK_FRAME_BYTES 152
#define SP_WINDOW_HEAD_BYTES 256
#define SP_RUN_FRAME_BYTES 128
#define SP_CALL_FRAME_BYTES 512

/* A reader enforces these limits. A file beyond them is damaged or hostile. */
#define SP_WINDOW_SLOTS_MIN 256u
#define SP_WINDOW_SLOTS_MAX 4096u
#define SP_BLOCK_SLOTS_MAX 4096u
#define SP_PAYLOAD_BYTES_MAX (256u * 1024u) /* a block, decompressed */
#define SP_NAME_BYTES_MAX 4352u		    /* one definition's bytes */

struct sp_frame {
	uint32_t magic;
	uint32_t size; /* bytes that follow these eight */
};

/* One instant on the three clocks, read back to back. */
struct sp_clock_point {
	uint64_t ticks; /* the trace's own clock: raw TSC or cntvct, or CLOCK_MONOTONIC in ns */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;  /* CLOCK_REALTIME */
};

enum sp_header_flags {
	SP_HEADER_CLOCK_COUNTER = 1 << 0, /* ticks: a cycle counter; unset: CLOCK_MONOTONIC ns */
	SP_HEADER_WRITE_MODE = 1 << 1, /* no shared mapping here: the window is lost on SIGKILL */
	SP_HEADER_FORKED = 1 << 2,     /* image began by fork (parent_*), not by exec */
	SP_HEADER_DEVICE = 1 << 3,     /* no thread: work of the process's GPUs; tid 0 */
	SP_HEADER_SAMPLER = 1 << 4,    /* no process of the job: the sampler of its Python stacks */
};

/* The writer of this file. header_hash covers the bytes before it. */
struct sp_file_header {
	struct sp_frame frame;
	char tag[8];
	uint16_t version;
	uint16_t frame_bytes; /* SP_HEADER_FRAME_BYTES */
	uint32_t flags;	      /* enum sp_header_flags */
	uint64_t stream_id;   /* names this file in its blocks and window */
	uint64_t run_token[2];
	uint32_t pid, tid, ppid;
	uint32_t segment;	  /* 0; 1, 2 … after each clean end of the thread */
	uint64_t image_start_ns;  /* CLOCK_REALTIME at exec or fork; with host and pid it names
				     the process image */
	uint64_t parent_start_ns; /* image_start_ns of the forking process image; 0: not known */
	struct sp_clock_point opened;
	uint64_t ticks_per_second; /* estimate; points in headers and blocks refine it */
	uint32_t grain;		   /* observed step of the clock in ticks, >= 1 */
	uint32_t writer_version;   /* major << 16 | minor << 8 | patch */
	char host[64];		   /* NUL-padded */
	char exe[64];		   /* base name of the executable */
	char comm[16];		   /* the thread's name when the file was made */
	uint64_t header_hash;	   /* XXH64, seed 0, of the bytes before it */
	/* The recorder stores to these while the process runs. Each is a checked word
	 * (sp_checked_*). */
	uint64_t process_lost;	   /* events of threads that have no file; only in the image's first
				      file */
	uint64_t rank, local_rank; /* in its job, plus 1; 0: not known */
	uint64_t world_size;	   /* ranks of its job; 0: not known */
	uint64_t event_ps;	   /* picoseconds to record an event, measured; 0: not known */
	/* Only in the first file of a process image; 0: not known. */
	uint64_t own_ns;   /* spent on blocks, files and their growth, by all threads */
	uint64_t stall_ns; /* the longest such time within one call of the host */
	uint64_t ending;   /* sp_ending_make(), stored when the process ends itself */
	uint64_t reserved[22];
};

enum sp_block_flags {
	SP_BLOCK_LAST = 1 << 0,		  /* the thread's clean end: nothing follows */
	SP_BLOCK_NO_DEFINITIONS = 1 << 1, /* no BLOB slots either: a pass over definitions
					     may skip the block */
};

/* Lies directly before its zstd frames. */
struct sp_block_header {
	struct sp_frame frame;
	char tag[4];
	uint16_t version;
	uint16_t flags; /* enum sp_block_flags */
	uint64_t stream_id;
	uint32_t pid, tid;
	char host[32];	      /* truncated, NUL-padded */
	uint64_t first_index; /* slots are numbered through the life of a file, from 0 */
	uint32_t slots;	      /* in this block, <= SP_BLOCK_SLOTS_MAX */
	uint32_t events;      /* slots that are events: not EXTRA, BLOB, HOLE or definitions */
	uint64_t begin_ticks; /* earliest start and latest end of an event; 0, 0 if none */
	uint64_t end_ticks;
	struct sp_clock_point published;
	uint64_t lost;		/* events that this thread lost until `published` */
	uint32_t payload_bytes; /* decompressed, <= SP_PAYLOAD_BYTES_MAX */
	uint32_t zstd_bytes;	/* length of the zstd frames that follow */
	uint64_t zstd_hash;	/* XXH64, seed 0, of those frames */
	uint64_t header_hash;	/* XXH64, seed 0, of the bytes before it */
};

enum sp_lost_cause {
	SP_LOST_FULL,	/* window full and the file could not grow (disk, limits, no more system
			   calls) */
	SP_LOST_NESTED, /* a signal handler used up the reserve while a block was being made */
	SP_LOST_CAUSES
};

/* The call that a thread is inside of. what == 0: none. */
struct sp_mark {
	uint64_t start_ticks;
	uint64_t what; /* as sp_slot.commit, generation 0; stored after start_ticks */
};

/* Where the process has the path that a call in flight opens: trace/live_process.h reads it. */
struct sp_mark_address {
	uint64_t start_ticks; /* of the mark that the path belongs to, stored last; 0: none */
	uint64_t path_at; /* with SP_MARK_LAST_PART: only the part after the last slash is kept */
};
#define SP_MARK_LAST_PART (UINT64_C(1) << 63)

/*
 * The raw window: head, then `capacity` slots. Slot number i is at index i % capacity. It is valid
 * if its generation is that of i and its check fits; it counts if i >= the end of the last block
 * too.
 */
struct sp_window_header {
	struct sp_frame frame;
	char tag[4];
	uint16_t version;
	uint16_t head_bytes; /* SP_WINDOW_HEAD_BYTES */
	uint64_t stream_id;
	uint32_t pid, tid;
	uint32_t capacity; /* slots, a power of two */
	uint32_t reserved0;
	uint64_t first_index; /* no slot of this window has a lower number */
	struct sp_clock_point made;
	uint64_t header_hash; /* XXH64, seed 0, of the bytes before it */
	/* The thread stores to these while it runs. */
	uint64_t lost[SP_LOST_CAUSES]; /* checked words */
	struct sp_mark mark;
	uint8_t reserved1[128];
	struct sp_mark_address mark_address;
};

/*
 * A thread that did not go on for long: the launcher, which may read the process's memory, leaves
 * what its call was given, or the lock that it waits for without a call that is recorded.
 */
#define SP_CALL_TEXT_BYTES 448u
struct sp_call_frame {
	struct sp_frame frame;
	char tag[8];
	uint16_t version;
	uint16_t what; /* enum sp_call_what */
	uint16_t text_bytes;
	uint16_t reserved0;
	uint64_t stream_id;
	uint64_t start_ticks; /* of the mark; 0: the thread was in no call that is recorded */
	uint64_t seen_ns;     /* CLOCK_REALTIME; of a lock */
	uint32_t holder, holder_tid;   /* of a lock: process and thread; 0: not known */
	char text[SP_CALL_TEXT_BYTES]; /* not terminated; of a lock: the holder's name, NUL, path */
	uint64_t hash;		       /* XXH64, seed 0, of the bytes before it */
};

enum sp_call_what {
	SP_CALL_PATH = 1, /* the path that the call opens, "..." before the end of a long one */
	SP_CALL_FILE_LOCK = 2,	  /* the thread waits for a lock of a file */
	SP_CALL_MUTEX = 3,	  /* for a mutex that a thread of its process holds */
	SP_CALL_COPIED_MUTEX = 4, /* for a mutex that a thread of the parent held at the fork */
	SP_CALL_NO_LOCK = 5,	  /* it does not wait for the lock of the last frame any more */
	SP_CALL_SHARED_MUTEX = 6, /* for a mutex of several processes that another one holds */
	SP_CALL_ALONE =
		7, /* inside of its process, and it is the only thread; holder: the parent */
};

struct sp_run_frame {
	struct sp_frame frame;
	char tag[8];
	uint16_t version;
	uint16_t reserved0[3];
	uint64_t token[2];
	uint64_t made_realtime_ns;
	uint32_t off; /* not 0: processes of the run record nothing. Any program may store to it
			 during the run */
	uint32_t reserved1;
	/* The launcher stores these after the command has ended. 0: not known. All but the hash are
	 * checked words. */
	uint64_t command_hash; /* of the command's words: equal in runs of the same command */
	uint64_t command_pid;
	uint64_t command_ending;   /* sp_ending_make() */
	uint64_t command_ended_ns; /* since made_realtime_ns */
	uint64_t oom_kills; /* processes of the launcher's cgroup that were killed for lack of
			       memory */
	/* Checked. When the launcher last saw that the command ran, ns since made_realtime_ns; it
	 * stores this and command_pid about once a second. */
	uint64_t command_alive_ns;
	uint64_t reserved[3];
};

/*
 * Shared memory of the processes of a run that map no file of it: shmget(2), removed at once, so it
 * goes with the last process that has it. A note in the run's marker leads to it: the next process
 * of the run, and `stageprof off`. The recorder's own fields follow.
 */
#define SP_TAG_MEMORY "SPSPARE2"

struct sp_run_memory {
	char tag[8];
	uint64_t run_token[2];
	uint32_t off; /* as in struct sp_run_frame: processes that have this memory read it here */
	uint32_t reserved;
};

/* The marker: its RUN frame, then a FREE frame, at whose end the notes are. */
#define SP_MARKER_BYTES 65536u
#define SP_MARKER_NOTES_BYTES 4096u
#define SP_MARKER_NOTES_AT (SP_MARKER_BYTES - SP_MARKER_NOTES_BYTES)
#define SP_MARKER_NOTES (SP_MARKER_NOTES_BYTES / sizeof(struct sp_memory_note))

/* One for each machine and IPC namespace, as far as hashes differ. */
struct sp_memory_note {
	uint64_t place; /* sp_memory_place(); 0: no note */
	uint64_t id;	/* of the memory, plus 1; 0: the system gives none, so nobody reaches it */
};

enum sp_ending_how {
	SP_ENDING_UNKNOWN,
	SP_ENDING_EXITED,   /* by itself: with a status */
	SP_ENDING_SIGNALED, /* by a signal */
};

/*
 * One slot, 32 bytes. An event is one slot, plus one EXTRA slot if its kind says so. A definition
 * is one slot plus BLOB slots. The slots of one record have consecutive numbers. `commit` is stored
 * last:
 *
 *	bits 0..15 kind   16..23 generation   24..31 check   32..63 arg
 *
 * generation = (number / capacity) mod 256. check = the XOR of the 31 other bytes, so any single
 * flipped bit is detected.
 */
struct sp_slot {
	uint64_t start; /* ticks */
	uint64_t ticks; /* duration */
	int64_t value;
	uint64_t commit;
};

/* Bytes of a slot of kind SP_KIND_BLOB. */
#define SP_SLOT_BLOB_BYTES 24u

/* A file id (arg of file events and of SP_DEFINE_FILE): enum sp_file_type in the top four bits,
 * below it a count from 1 in each process image; 0: not known. */
#define SP_FILE_TYPE_SHIFT 28

#define SP_BUILD_ID_BYTES_MAX 64u

#define SP_KIND_EVENTS 1024u   /* kinds of events are lower numbers */
#define SP_KIND_HOLE 0u	       /* a slot that was never committed (a signal, a kill) */
#define SP_KIND_EXTRA 0xFFF0u  /* three more words of the event before it */
#define SP_KIND_BLOB 0xFFF1u   /* bytes of the definition before it */
#define SP_KIND_DEFINE 0xFF00u /* 0xFF00..0xFF1F: enum sp_define */

/* Definitions: kind = SP_KIND_DEFINE + this number, arg = the defined id, value = bytes in the
 * blob. */
enum sp_define {
	SP_DEFINE_FILE = 0,	/* struct sp_file_metadata, then the path */
	SP_DEFINE_NAME = 1,	/* a label: range, function, module, data set */
	SP_DEFINE_STACK = 2,	/* uint64_t addresses, innermost first */
	SP_DEFINE_OBJECT = 3,	/* struct sp_object_metadata, then the path */
	SP_DEFINE_THREAD = 4,	/* the thread's name (arg 0) */
	SP_DEFINE_COMMAND = 5,	/* argv, NUL-separated; only with STAGEPROF_COMMAND=1 (arg 0) */
	SP_DEFINE_COVERAGE = 6, /* "hook-group\tbound|absent|unobservable|failed\tdetail" (arg 0) */
	SP_DEFINE_NOTE = 7,	/* "sentence[\tname]" about this process for the report (arg 0) */
	SP_DEFINE_SLOW = 8,	/* struct sp_slow_call_metadata: a slow call and its stack (arg: the
				   stack's id) */
	SP_DEFINE_LINE = 9,	/* struct sp_slow_call_metadata, then the Python line:
				   "file:line\tfunction" (arg: its stack's id, 0: none) */
	SP_DEFINE_BUILD = 10,	/* GNU build id of a mapped object's file (arg: the object's id); no
				   bytes: the file has none */
	SP_DEFINE_CPUS = 12,	/* struct sp_cpu_metadata: cores that the process may use (arg 0) */
	SP_DEFINE_RUSAGE = 13, /* struct sp_rusage_metadata: a thread's, at its clean end (arg 0) */
	SP_DEFINE_STEP_RUSAGE = 14,  /* struct sp_step_rusage_metadata: in some steps (arg 0) */
	SP_DEFINE_NOTHING = 15,	     /* a slot that was taken and not used (arg 0, no bytes) */
	SP_DEFINE_PYTHON_FRAME = 16, /* struct sp_python_frame_metadata, then "file\tfunction" */
	SP_DEFINE_PYTHON_STACK = 17, /* ids of frames, 4 bytes each, innermost first */
	SP_DEFINE_SAMPLES = 18,	     /* several struct sp_python_sample (arg 0) */
	SP_DEFINE_SAMPLER = 19,	     /* struct sp_sampler_metadata; the last one counts (arg 0) */
	SP_DEFINE_CALLS = 20,  /* struct sp_calls_metadata: a window of counted fetches (arg 0) */
	SP_DEFINE_CALLED = 21, /* struct sp_called_metadata of the window before it, then
				  "file\tfunction" (arg 0) */
	SP_DEFINE_CORES = 22,  /* struct sp_cores_metadata: in some steps (arg 0) */
	SP_DEFINE_MEMORY = 23, /* struct sp_memory_metadata: after some batches (arg 0) */
	SP_DEFINES
};

/* Marks the text of a note for translation: the text is the key of its translation. */
#define SP_NOTE_TEXT(text) text

enum sp_file_type {
	SP_FILE_UNKNOWN = 0,
	SP_FILE_REGULAR,
	SP_FILE_DIRECTORY,
	SP_FILE_PIPE,
	SP_FILE_SOCKET,
	SP_FILE_CHARACTER, /* /dev/zero, terminals, /dev/nvidia0 */
	SP_FILE_BLOCK,
	SP_FILE_ANON,	/* eventfd, epoll, memfd: no name in any directory */
	SP_FILE_PSEUDO, /* a regular file on procfs, sysfs or a similar file system */
	SP_FILE_NET,	/* a socket of the internet; the name is its peer's */
	SP_FILE_TYPES
};

struct sp_file_metadata {
	uint32_t type; /* enum sp_file_type */
	uint32_t fd;   /* the descriptor at the file's first use */
	uint64_t device, inode;
	uint64_t fs_magic; /* the lower 32 bits of statfs f_type; 0: not known */
	uint64_t size;
};

struct sp_object_metadata {
	uint64_t begin, end; /* mapped addresses */
	uint64_t bias;	     /* address minus file virtual address */
};

#define SP_CPU_MASK_WORDS 16u	 /* processors of higher numbers are in no mask */
#define SP_CPU_METADATA_LEAST 8u /* bytes: of older traces */

struct sp_cpu_metadata {
	uint32_t allowed;	   /* processors of the affinity; 0: not known */
	uint32_t quota_millicores; /* least quota of the cgroups; 0: none was found */
	/* The metadata of older traces ends here. */
	uint32_t usable_count;	/* processors in `usable`; 0: not known, also in older traces */
	uint32_t initial_count; /* in `initial`; 0: not known */
	uint64_t mask[SP_CPU_MASK_WORDS];   /* affinity of the thread that makes steps or batches */
	uint64_t usable[SP_CPU_MASK_WORDS]; /* processors of the cgroup, or of the machine */
	uint64_t initial[SP_CPU_MASK_WORDS]; /* affinity with which the program began */
};

/* Counts since the machine, or the group, began. UINT64_MAX: not known. */
struct sp_cores_metadata {
	uint64_t at;		   /* ticks */
	uint64_t busy_ms, idle_ms; /* of the usable processors, added up; both 0: not known */
	/* The group that was throttled most, of all groups upwards: periods that the quota had,
	 * those in which it was used up, and the time that followed, added up over processors. */
	uint64_t periods, throttled, throttled_us;
	uint64_t pressure_us;		 /* some thread waited for a processor */
	uint32_t is_pressure_of_machine; /* else of the group */
	uint32_t reserved;
};

/* Memory of a process that makes batches. UINT64_MAX: not known. */
struct sp_memory_metadata {
	uint64_t at;	  /* ticks */
	uint64_t batches; /* that it made so far */
	uint64_t resident_bytes, private_dirty_bytes, proportional_bytes;
	uint64_t limit_bytes, left_bytes;   /* of the group nearest to its limit, or the machine */
	uint64_t shm_bytes, shm_free_bytes; /* /dev/shm */
};

/* Counts from the thread's beginning, also if the trace began later. */
struct sp_rusage_metadata {
	uint64_t cpu_ns;   /* on a processor */
	uint64_t ready_ns; /* ready, and waiting for a processor; UINT64_MAX: not known */
	uint64_t major_faults, blocks_read; /* pages, and units of 512 bytes, read from a disk */
	uint64_t process_cpu_ns, process_major_faults; /* of all threads */
	/* Sums over the existing threads; only in the definition of the process's first thread. ~0:
	 * not known. */
	uint64_t process_ready_ns;
	uint64_t process_threads;
};

/* The rusage of a trainer. process_ready_ns and process_threads are set for any thread. */
struct sp_step_rusage_metadata {
	uint64_t at; /* ticks */
	struct sp_rusage_metadata usage;
};

/* Ties a stack to the event of the same file with this start and kind. */
struct sp_slow_call_metadata {
	uint64_t start, ticks;
	uint32_t kind, arg; /* as the event's */
};

struct sp_python_frame_metadata {
	uint32_t line;	     /* 0: not known */
	uint32_t first_line; /* of the function */
};

/*
 * A thread was found on this stack `samples` times, one after the other, and did not run between
 * them. The last time was `at`; the thread was looked at before them `span_us` before `at`.
 */
struct sp_python_sample {
	uint64_t at; /* ticks */
	uint32_t pid, tid;
	uint32_t stack;	  /* 0: no Python frame */
	uint32_t samples; /* not 0 */
	uint32_t span_us; /* 0: not known, because this is the thread's first sample */
	uint32_t cpu_us;  /* of the thread in span_us; UINT32_MAX: not known */
	uint32_t state;	  /* as the kernel names it: 'R' runs or is ready,
			     'S' waits, …; 0: not known */
	/* One look in sixteen: id of a frame whose file is the library with the instruction that
	 * the thread executed after some 0.1 ms more on a processor, and 20 ms at most; 0: not
	 * known.
	 */
	uint32_t object;
};

/* Counts since the sampler began. */
struct sp_sampler_metadata {
	uint64_t rate;	   /* samples a second that were asked for */
	uint64_t ticks;	   /* times at which it looked at all threads */
	uint64_t samples;  /* of threads */
	uint64_t torn;	   /* stacks that changed while they were read; in no sample */
	uint64_t refused;  /* processes that it had no right to read */
	uint64_t foreign;  /* processes with a CPython of an unknown version */
	uint64_t cpu_ns;   /* that the sampler took */
	uint64_t wall_ns;  /* that it lived */
	uint64_t leafless; /* threads that ran, whose instruction the kernel did not show */
};

/* Fetches or training steps of one process in which every call was counted (STAGEPROF_CALLS). */
struct sp_calls_metadata {
	uint64_t fetches;	 /* of the process, so far */
	uint64_t counted;	 /* in this window */
	uint64_t events;	 /* calls and returns */
	uint64_t fetch_ticks;	 /* of the counted fetches */
	uint64_t callback_ticks; /* that the recorder took inside of them */
	uint64_t called_ticks;	 /* of all functions of the window, without callback_ticks */
	uint64_t event_ps;	 /* that the interpreter took for an event when it was measured */
	uint64_t neighbours;   /* fetches that the means below are of: those before, not counted */
	uint64_t neighbour_ns; /* mean */
	uint64_t neighbour_variance_us2;
	uint64_t is_of_steps; /* 1: "fetches" are steps; 0: fetches of a loader */
};

/* A function in the counted fetches of a window; own and total time contain what the interpreter
 * takes for an event, once for each span. */
struct sp_called_metadata {
	uint64_t calls;
	uint64_t own_ticks, total_ticks; /* total: inside of the outermost call */
	uint64_t own_spans, total_spans; /* between two events */
	uint64_t calls_squares;		 /* sums over the fetches */
	uint64_t own_squares_us2;
	uint32_t first_line; /* 0: a function in C */
	uint32_t phase; /* of steps: 1 + enum sp_phase of the innermost known call around it; 0: of
			   fetches */
};

/* Value of an event whose call ended by longjmp, cancellation or an exception. */
#define SP_VALUE_ABANDONED INT64_MIN

/* Bits of the value of loader_next and loader_begin; the others are the iterator's address. */
#define SP_LOADER_ENDED INT64_C(1)  /* it gave no batch */
#define SP_LOADER_RAISED INT64_C(2) /* because of an exception that is no StopIteration */
#define SP_LOADER_BITS (SP_LOADER_ENDED | SP_LOADER_RAISED)

_Static_assert(sizeof(struct sp_file_header) == SP_HEADER_FRAME_BYTES, "the header's size");
_Static_assert(sizeof(struct sp_block_header) == SP_BLOCK_FRAME_BYTES, "the block's size");
_Static_assert(sizeof(struct sp_window_header) == SP_WINDOW_HEAD_BYTES, "the window's size");
_Static_assert(sizeof(struct sp_call_frame) == SP_CALL_FRAME_BYTES, "the call's size");
_Static_assert(sizeof(struct sp_run_frame) == SP_RUN_FRAME_BYTES, "the marker's size");
_Static_assert(sizeof(struct sp_slot) == 32, "the slot's size");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace is little-endian");

/* Returns FNV-1a of the host's name and of the inode of /proc/PID/ns/ipc; never 0. */
static inline uint64_t sp_memory_place(const char *node, size_t bytes, uint64_t ipc_namespace)
{
	uint64_t place = UINT64_C(0xcbf29ce484222325) ^ ipc_namespace;

	for (size_t i = 0; i < bytes; i++)
		place = (place ^ (unsigned char)node[i]) * UINT64_C(0x100000001b3);
	return place ? place : 1;
}

/* Where in the marker the note of this place is. */
static inline uint64_t sp_memory_note_at(uint64_t place)
{
	return SP_MARKER_NOTES_AT + place % SP_MARKER_NOTES * sizeof(struct sp_memory_note);
}

/* XOR of all bytes of x, in the bits of a commit word's check. */
static inline uint64_t sp_commit_check(uint64_t x)
{
	uint32_t y = (uint32_t)(x ^ x >> 32);

	y ^= y << 16;
	y ^= y << 8;
	return y & 0xFF000000u;
}

/* XOR of all bytes of x. */
static inline uint64_t sp_fold8(uint64_t x)
{
	return sp_commit_check(x) >> 24;
}

/* Kind and arg of an event, as in its commit word and in a mark. */
static inline uint64_t sp_what_make(uint32_t kind, uint32_t arg)
{
	return (uint64_t)arg << 32 | (kind & 0xFFFF);
}

/* Makes a slot's commit word from its other words. */
static inline uint64_t sp_commit_make(uint64_t start, uint64_t ticks, uint64_t value, uint64_t what,
				      uint64_t generation)
{
	uint64_t word = what | (generation & 0xFF) << 16;

	return word | sp_commit_check(start ^ ticks ^ value ^ word);
}

/* True if the slot is committed for this generation and undamaged. */
static inline int sp_slot_valid(const struct sp_slot *slot, uint64_t generation)
{
	uint64_t commit = slot->commit;

	return (commit & 0xFFFF) != SP_KIND_HOLE && (commit >> 16 & 0xFF) == (generation & 0xFF) &&
	       sp_commit_check(slot->start ^ slot->ticks ^ (uint64_t)slot->value ^ commit) == 0;
}

static inline uint32_t sp_commit_kind(uint64_t commit)
{
	return commit & 0xFFFF;
}

static inline uint32_t sp_commit_arg(uint64_t commit)
{
	return (uint32_t)(commit >> 32);
}

/* A counter below 2^56 with its own check, for places of a mapped file that no hash covers. */
static inline uint64_t sp_checked_make(uint64_t count)
{
	count &= (UINT64_C(1) << 56) - 1;
	return count | sp_fold8(count) << 56;
}

/* Returns 0 and the count, or -1 if the word is damaged. Eight equal bytes fit their check, and are
 * what overwrites a place. */
static inline int sp_checked_read(uint64_t word, uint64_t *ret_count)
{
	*ret_count = word & ((UINT64_C(1) << 56) - 1);
	return sp_fold8(word) || (word && word % UINT64_C(0x0101010101010101) == 0) ? -1 : 0;
}

/* A checked word: how << 8 | status or signal. */
static inline uint64_t sp_ending_make(enum sp_ending_how how, unsigned status)
{
	return sp_checked_make((uint64_t)how << 8 | (status & 0xFF));
}

#endif
