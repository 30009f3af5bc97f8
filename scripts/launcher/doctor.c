#include "scripts/launcher/command.h"
int sp_command_doctor(int argc, char **argv) { (void)argc; (void)argv; return 0; }
